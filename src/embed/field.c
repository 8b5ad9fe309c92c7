/* Structs: tuples whose components have names. */
#include "embed/value.h"

sn_scalar sn_field_at(sn_site at, sn_scalar t, const char *name)
{
    op o;
    const value *v = op_start(&o, at, "field") ? op_take_scalar(&o, t, "the operand") : NULL;
    int i = v ? tree_field(&o, v->tree, name, value_text(&o, v)) : -1;
    if (i < 0)
        return op_bad_scalar(&o);
    uint32_t first = tree_offset(v->tree, (uint32_t)i);
    return op_give_scalar(&o, v->tree->child[i], v->term + first, v->weak ? v->weak + first : NULL);
}

sn_acc sn_array_field_at(sn_site at, sn_acc a, const char *name)
{
    op o;
    const value *v = op_start_array(&o, at, "field") ? op_take_array(&o, a) : NULL;
    int i = v ? tree_field(&o, v->tree, name, value_text(&o, v)) : -1;
    return i < 0 ? op_bad_array(&o) : embed_component(&o, v, (uint32_t)i);
}

/* The terms of x, which takes the place of leaves `first` on of v; NULL after a mistake. */
static const ir_id *replacement(const op *o, const value *v, const tree *field, uint32_t first, const value *x,
                                const char *name)
{
    const ir_type *type = value_types(o, v) + first;
    bool same = tree_equal(field, x->tree);
    const ir_id *term = same ? embed_settle(o, x, type, arena_printf(o->b->arena, "the new %s", name)) : NULL;
    if (same && !term)
        return NULL;
    for (uint32_t k = 0; same && k < field->leaves; k++)
        same = ir_at(o->p, term[k])->type == (uint8_t)type[k];
    if (!same)
        return op_fail(o, "the field %s is %s, but the new one %s; convert it", name, type_text(o, field, type),
                       value_text(o, x));
    return term;
}

sn_scalar sn_with_at(sn_site at, sn_scalar t, const char *name, sn_scalar x)
{
    op o;
    if (!op_start(&o, at, "with"))
        return op_bad_scalar(&o);
    const value *v = op_take_scalar(&o, t, "the operand"), *with = op_take_scalar(&o, x, "the new value");
    int i = v && with ? tree_field(&o, v->tree, name, value_text(&o, v)) : -1;
    if (i < 0)
        return op_bad_scalar(&o);
    uint32_t first = tree_offset(v->tree, (uint32_t)i), n = v->tree->child[i]->leaves;
    const ir_id *new = replacement(&o, v, v->tree->child[i], first, with, name);
    if (!new)
        return op_bad_scalar(&o);
    ir_id *term = arena_copy(o.b->arena, v->term, v->tree->leaves * sizeof *term);
    bool *weak = v->weak ? arena_copy(o.b->arena, v->weak, v->tree->leaves * sizeof *weak) : NULL;
    memcpy(term + first, new, n * sizeof *term);
    for (uint32_t k = first; weak && k < first + n; k++)
        weak[k] = false;
    return op_give_scalar(&o, v->tree, term, weak);
}

/* --- a tuple with names --- */

static bool separates(char c)
{
    return c == ' ' || c == ',';
}

/* Splits "x y z" into names; false, reported, if there are not `count`, or one is no C identifier. */
static bool split(const op *o, const char *names, uint32_t count, const char **name)
{
    uint32_t n = 0;
    for (const char *c = names; *c;) {
        size_t length = 0;
        while (separates(*c))
            c++;
        while (c[length] && !separates(c[length])) {
            char k = c[length];
            bool letter = (k >= 'a' && k <= 'z') || (k >= 'A' && k <= 'Z') || k == '_';
            if (!letter && !(length && k >= '0' && k <= '9'))
                return op_fail(o, "\"%s\" is no list of names; write them with blanks between, as in \"x y\"", names);
            length++;
        }
        if (length && n < count) {
            char *copy = arena_alloc(o->b->arena, length + 1);
            memcpy(copy, c, length);
            name[n] = copy;
        }
        n += length > 0;
        c += length;
    }
    return n == count ||
           op_fail(o, "\"%s\" names %u fields, but there are %u values; write one name for each", names, n, count);
}

sn_scalar sn_record_at(sn_site at, const char *names, int count, const sn_scalar *component)
{
    op o;
    const char *name[16];
    const value *v =
        op_start(&o, at, "record") ? op_take(&o, sn_tuple_at(at, count, component).bits, "the fields") : NULL;
    if (!v)
        return op_bad_scalar(&o);
    op_start(&o, at, "record");
    if (!names) {
        op_fail(&o, "there are no names; write them with blanks between, as in \"x y\"");
        return op_bad_scalar(&o);
    }
    const tree *t = split(&o, names, v->tree->n, name) ? tree_struct(&o, v->tree->n, v->tree->child, name) : NULL;
    return t ? op_give_scalar(&o, t, v->term, v->weak) : op_bad_scalar(&o);
}
