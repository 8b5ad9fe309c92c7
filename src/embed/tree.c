/* The structure of tuples, and how values and their types are written in messages. */
#include "embed/value.h"

const tree *tree_leaf(build *b)
{
    if (!b->leaf) {
        tree *t = arena_new(b->arena, *t);
        *t = (tree){.leaves = 1, .leaf = true};
        b->leaf = t;
    }
    return b->leaf;
}

const tree *tree_tuple(const op *o, uint32_t n, const tree *const *child)
{
    tree *t = arena_new(o->b->arena, *t);
    t->n = n;
    t->child = arena_copy(o->b->arena, child, n * sizeof *child);
    for (uint32_t i = 0; i < n; i++) {
        t->leaves += child[i]->leaves;
        t->depth = child[i]->depth + 1 > t->depth ? child[i]->depth + 1 : t->depth;
    }
    if (t->leaves > IR_MAX_COMPONENTS)
        return op_fail(o, "a tuple of %u components; %d is the largest possible", t->leaves, IR_MAX_COMPONENTS);
    if (t->depth > MOST_DEPTH)
        return op_fail(o, "tuples nested more than %d deep; flatten them", MOST_DEPTH);
    return t;
}

const tree *tree_struct(const op *o, uint32_t n, const tree *const *child, const char *const *name)
{
    const tree *unnamed = tree_tuple(o, n, child);
    if (!unnamed)
        return NULL;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < i; k++)
            if (!strcmp(name[i], name[k]))
                return op_fail(o, "two fields are named %s; each needs a name of its own", name[i]);
    tree *t = arena_copy(o->b->arena, unnamed, sizeof *t);
    t->name = arena_copy(o->b->arena, name, n * sizeof *name);
    return t;
}

int tree_field(const op *o, const tree *t, const char *name, const char *what)
{
    if (!name) {
        op_fail(o, "the name of the field of %s is NULL; give its name as text", what);
        return -1;
    }
    for (uint32_t i = 0; t->name && i < t->n; i++)
        if (!strcmp(t->name[i], name))
            return (int)i;
    op_fail(o,
            t->name ? "%s has no field %s; the names of the signature and of sn_record are fields"
                    : "%s has no named fields, hence no %s; sn_get takes a number",
            what, name);
    return -1;
}

typedef struct extent_of { /* of a part of a C struct, in bytes */
    size_t size, align;
} extent_of;

static extent_of place(const tree *t, const ir_type *type, size_t at, size_t *offset)
{
    extent_of whole = {0, 1};
    if (t->leaf) {
        *offset = at;
        return (extent_of){ir_type_size(*type), ir_type_size(*type)};
    }
    for (uint32_t i = 0; i < t->n; i++) {
        uint32_t first = tree_offset(t, i);
        extent_of part = place(t->child[i], type + first, 0, offset + first);
        whole.size = (whole.size + part.align - 1) / part.align * part.align;
        for (uint32_t k = 0; k < t->child[i]->leaves; k++)
            offset[first + k] += at + whole.size;
        whole.size += part.size;
        whole.align = part.align > whole.align ? part.align : whole.align;
    }
    whole.size = (whole.size + whole.align - 1) / whole.align * whole.align;
    return whole;
}

size_t tree_layout(const tree *t, const ir_type *type, size_t *offset)
{
    return place(t, type, 0, offset).size;
}

const tree *tree_flat(build *b, uint32_t n)
{
    if (n == 1)
        return tree_leaf(b);
    tree *t = arena_new(b->arena, *t);
    const tree **child = arena_array(b->arena, const tree *, n + 1);
    for (uint32_t i = 0; i < n; i++)
        child[i] = tree_leaf(b);
    *t = (tree){.leaves = n, .depth = 1, .n = n, .child = child};
    return t;
}

bool tree_equal(const tree *a, const tree *b)
{
    if (a == b)
        return true;
    if (a->leaf || b->leaf || a->n != b->n || a->leaves != b->leaves)
        return a->leaf && b->leaf;
    for (uint32_t i = 0; a->name && b->name && i < a->n; i++)
        if (strcmp(a->name[i], b->name[i]))
            return false;
    for (uint32_t i = 0; i < a->n; i++)
        if (!tree_equal(a->child[i], b->child[i]))
            return false;
    return true;
}

uint32_t tree_offset(const tree *t, uint32_t child)
{
    uint32_t offset = 0;
    for (uint32_t i = 0; i < child; i++)
        offset += t->child[i]->leaves;
    return offset;
}

void tree_text(text *out, const tree *t, const ir_type *type)
{
    if (t->leaf) {
        text_add(out, ir_type_name(type[0]));
        return;
    }
    text_add(out, t->name ? "{" : "(");
    for (uint32_t i = 0; i < t->n; i++) {
        text_add(out, i ? ", " : "");
        if (t->name)
            text_printf(out, "%s: ", t->name[i]);
        tree_text(out, t->child[i], type + tree_offset(t, i));
    }
    text_add(out, t->name ? "}" : ")");
}

const char *type_text(const op *o, const tree *t, const ir_type *type)
{
    text out;
    text_init(&out, o->b->arena);
    tree_text(&out, t, type);
    return out.at;
}

const ir_type *value_types(const op *o, const value *v)
{
    if (v->kind == VALUE_ARRAY)
        return ir_info(o->p, v->array)->type;
    ir_type *type = arena_array(o->b->arena, *type, v->tree->leaves + 1);
    for (uint32_t i = 0; i < v->tree->leaves; i++)
        type[i] = (ir_type)ir_at(o->p, v->term[i])->type;
    return type;
}

const char *value_text(const op *o, const value *v)
{
    text out;
    text_init(&out, o->b->arena);
    const ir_array *a = v->kind == VALUE_ARRAY ? ir_info(o->p, v->array) : NULL;
    for (unsigned d = 0; a && d < a->rank; d++) {
        text_add(&out, d ? "," : "[");
        ir_print_scalar(o->p, a->shape[d], &out);
    }
    text_add(&out, a && a->rank ? "]" : "");
    tree_text(&out, v->tree, value_types(o, v));
    return out.at;
}
