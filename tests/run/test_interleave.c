/* Arrays of structs taken apart and put together: random fields, lengths, alignments and threads, against the plain
 * way, element by element. Bytes of no field, and those around the arrays, stay as they are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "run/interleave.h"
#include "support/choices.h"
#include "support/guarded.h"

enum { FIELDS = 9, LONG = 70000 };

typedef struct layout {
    unsigned fields;
    size_t bytes;
    interleave_field field[FIELDS];
} layout;

/* Fields in their natural places, as C puts them, or packed; sometimes in another order than they stand in. */
static layout random_layout(choices *c)
{
    layout l = {.fields = 1 + choose(c, FIELDS)};
    bool packed = chance(c, 30), same = chance(c, 60);
    size_t size = (size_t)1 << choose(c, 4), widest = 1;
    for (unsigned k = 0; k < l.fields; k++) {
        size = same ? size : (size_t)1 << choose(c, 4);
        l.bytes += packed ? 0 : (size - l.bytes % size) % size;
        l.field[k] = (interleave_field){.offset = l.bytes, .size = size};
        l.bytes += size;
        widest = size > widest ? size : widest;
    }
    l.bytes += packed ? 0 : (widest - l.bytes % widest) % widest;
    if (l.fields > 1 && chance(c, 30)) {
        interleave_field first = l.field[0];
        l.field[0] = l.field[1];
        l.field[1] = first;
    }
    return l;
}

static void fill(char *to, size_t bytes, uint64_t seed)
{
    for (size_t i = 0; i < bytes; i++)
        to[i] = (char)(hash_mix(seed, i) >> 24);
}

/* Runs one way of conversion into memory that ends, or begins, where none may be touched. */
typedef struct outcome {
    guarded whole, part[FIELDS];
} outcome;

static outcome run_once(const layout *l, interleave x, unsigned shift, bool at_end, void (*way)(const interleave *))
{
    outcome o;
    interleave_field field[FIELDS];
    o.whole = guarded_new(x.n * l->bytes + shift, at_end);
    x.whole = (char *)o.whole.at + (at_end ? 0 : shift);
    fill(o.whole.at, x.n * l->bytes + shift, 1);
    for (unsigned k = 0; k < l->fields; k++) {
        field[k] = l->field[k];
        o.part[k] = guarded_new(x.n * field[k].size, at_end);
        fill(o.part[k].at, x.n * field[k].size, 2 + k);
        field[k].part = o.part[k].at;
    }
    x.field = field;
    way(&x);
    return o;
}

static void compare(const layout *l, interleave x, unsigned shift, bool at_end)
{
    outcome plain = run_once(l, x, shift, at_end, interleave_plainly);
    outcome fast = run_once(l, x, shift, at_end, interleave_run);
    assert_memory_equal(plain.whole.at, fast.whole.at, x.n * l->bytes + shift);
    for (unsigned k = 0; k < l->fields; k++) {
        assert_memory_equal(plain.part[k].at, fast.part[k].at, x.n * l->field[k].size);
        guarded_free(&plain.part[k]);
        guarded_free(&fast.part[k]);
    }
    guarded_free(&plain.whole);
    guarded_free(&fast.whole);
}

static void random_structs(void **state)
{
    (void)state;
    arena a;
    arena_init(&a, NULL);
    for (uint64_t seed = 0; seed < 600; seed++) {
        choices c;
        choices_random(&c, &a, seed);
        layout l = random_layout(&c);
        interleave x = {.bytes = l.bytes, .fields = l.fields};
        x.n = seed % 20 == 0 ? 1 + choose(&c, LONG) : choose(&c, 1500);
        x.together = chance(&c, 50);
        x.stream = chance(&c, 50);
        x.threads = 1 + choose(&c, 3);
        compare(&l, x, choose(&c, 65), chance(&c, 50));
    }
    arena_free(&a);
}

/* The plain way itself: fields are where they belong. */
static void fields_are_in_their_places(void **state)
{
    (void)state;
    struct both {
        uint8_t a;
        int32_t b;
    } s[3] = {{1, -1}, {2, -2}, {3, -3}};
    uint8_t a[3];
    int32_t b[3];
    interleave_field field[2] = {{offsetof(struct both, a), 1, (char *)a}, {offsetof(struct both, b), 4, (char *)b}};
    interleave x = {(char *)s, sizeof(s[0]), 3, 2, field, false, false, 1};
    interleave_plainly(&x);
    assert_true(a[0] == 1 && a[2] == 3 && b[0] == -1 && b[1] == -2);
    a[1] = 9;
    b[2] = 7;
    x.together = true;
    interleave_plainly(&x);
    assert_true(s[0].a == 1 && s[1].a == 9 && s[1].b == -2 && s[2].b == 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_in_their_places),
        cmocka_unit_test(random_structs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
