/* Programs as text: one statement a line, functions between braces. Grammar: docs/text-forms.md, "Terms". */
#include "ir/printer.h"
#include <inttypes.h>
#include <stdio.h>

static void mention(printer *pr, uint32_t site)
{
    if (site && site < pr->site.n)
        pr->site.at[site] = 1;
}

static void mention_all(printer *pr);

/* Places of the regions of a control: they have one table with the program around them. */
static void mention_regions(printer *pr, const ir_control *c)
{
    for (uint32_t i = 0; i < c->regions; i++) {
        printer inside;
        printer_init(&inside, c->region[i].program, pr->out);
        printer_collect(&inside, 0, NULL, true);
        inside.site.at = pr->site.at;
        inside.site.n = pr->site.n;
        mention_all(&inside);
    }
}

static void mention_all(printer *pr)
{
    const ir_program *p = pr->p;
    for (uint32_t k = 0; k < pr->item.n; k++) {
        const ir_node *n = ir_at(p, pr->item.at[k].id);
        bool fails = n->kind == IR_OP && ir_op_guarded((ir_op)n->op, (ir_type)ir_at(p, p->arg.at[n->args])->type);
        if (n->kind == IR_READ || n->kind >= IR_INPUT || fails)
            mention(pr, n->site);
        if (n->kind == IR_CONTROL)
            mention_regions(pr, n->u.info->control);
    }
    for (uint32_t k = 0; k < p->check.n; k++)
        mention(pr, p->check.at[k].site);
}

/* Places stand at the head, numbered in the order of the program's table. */
static void print_sites(printer *pr)
{
    const ir_program *p = pr->p;
    uint32_t number = 0;
    vec_resize(pr->arena, &pr->site, p->site.n);
    mention_all(pr);
    for (uint32_t s = 1; s < pr->site.n; s++) {
        if (!pr->site.at[s])
            continue;
        const ir_site *site = &p->site.at[s];
        pr->site.at[s] = ++number;
        text_printf(pr->out, "site %u ", number);
        if (site->file)
            print_string(pr->out, site->file);
        else
            text_add(pr->out, "?");
        text_printf(pr->out, ":%u", site->line);
        if (site->operation) {
            text_add(pr->out, " ");
            print_string(pr->out, site->operation);
        }
        if (site->wide)
            text_printf(pr->out, " wide %u", site->wide);
        text_add(pr->out, "\n");
    }
}

static void print_fn(printer *pr, const ir_fn *fn)
{
    uint32_t b = printer_fn_block(pr, fn);
    bool lines = pr->block.at[b].line.n > 0;
    text_add(pr->out, "{");
    for (uint32_t i = 0; i < fn->params; i++) {
        text_add(pr->out, i ? ", " : "");
        print_name(pr, printer_item(pr, fn->param[i]));
        text_printf(pr->out, ": %s", ir_type_name((ir_type)ir_at(pr->p, fn->param[i])->type));
    }
    if (lines)
        text_add(pr->out, "\n");
    else if (fn->params)
        text_add(pr->out, " ");
    print_lines(pr, b, 4);
    text_add(pr->out, lines ? "    ->" : "->");
    text_add(pr->out, fn->results ? " " : "");
    print_terms(pr, fn->results, fn->result);
    text_add(pr->out, "}");
}

static void print_shape(printer *pr, const ir_array *a)
{
    text_add(pr->out, "[");
    print_terms(pr, a->rank, a->shape);
    text_add(pr->out, "]");
}

static void print_types(printer *pr, const ir_array *a)
{
    for (uint32_t i = 0; i < a->components; i++)
        text_printf(pr->out, "%s%s", i ? ", " : a->components > 1 ? "(" : "", ir_type_name(a->type[i]));
    text_add(pr->out, a->components > 1 ? ")" : "");
}

/* Elements that the program brings along, some to a line. */
static void print_data(printer *pr, const ir_array *a)
{
    enum { A_LINE = 12 };
    size_t n = ir_data_elements(pr->p, a), size = ir_type_size(a->type[0]);
    text_add(pr->out, " data (");
    for (size_t i = 0; i < n; i++) {
        text_add(pr->out, i == 0 ? "" : i % A_LINE ? ", " : ",\n    ");
        print_literal(pr->out, a->type[0], ir_bits_load(a->type[0], (const char *)a->data + i * size));
    }
    text_add(pr->out, ")");
}

static void print_array_name(printer *pr, ir_id id)
{
    print_name(pr, printer_item(pr, id));
}

static void print_boundary(printer *pr, const ir_stencil *s, uint32_t components)
{
    static const char *const words[] = {"clamp", "mirror", "wrap", "constant (", "function "};
    text_printf(pr->out, " %s", words[s->boundary]);
    if (s->boundary == IR_CONSTANT) {
        print_terms(pr, components, s->constant);
        text_add(pr->out, ")");
    }
    if (s->boundary == IR_FUNCTION)
        print_fn(pr, s->function);
}

static void print_operands(printer *pr, const ir_array *a)
{
    for (uint32_t i = 0; i < a->inputs; i++) {
        const ir_array *in = ir_info(pr->p, a->input[i]);
        text_add(pr->out, i ? ", " : " ");
        print_array_name(pr, a->input[i]);
        if (!a->stencil)
            continue;
        text_add(pr->out, " pattern ");
        for (unsigned d = 0; d < in->rank; d++)
            text_printf(pr->out, "%s%u", d ? " x " : "", (unsigned)a->stencil[i].extent[d]);
        print_boundary(pr, &a->stencil[i], in->components);
    }
}

static void print_flags(printer *pr, const ir_node *n)
{
    static const struct {
        ir_kind kind; /* IR_NONE: any */
        unsigned bit;
        const char *word;
    } flags[] = {{IR_BACKPERMUTE, IR_SAFE, " safe"},
                 {IR_MAP, IR_INDEXED, " indexed"},
                 {IR_FOLD, IR_COMMUTES, " commutes"},
                 {IR_SCAN, IR_EXCLUSIVE, " exclusive"},
                 {IR_SCAN, IR_RIGHT, " right"},
                 {IR_SORT, IR_DESCENDING, " descending"},
                 {IR_SORT, IR_RUNS, " runs"},
                 {IR_PART, IR_EXTENT, " extent"},
                 {IR_FOLD_SEG, IR_COMMUTES, " commutes"},
                 {IR_SCAN_SEG, IR_EXCLUSIVE, " exclusive"},
                 {IR_SCAN_SEG, IR_RIGHT, " right"},
                 {IR_GENERATE, IR_ALONG, " along"},
                 {IR_MAP, IR_ALONG, " along"},
                 {IR_RESHAPE, IR_SOURCE, " along"},
                 {IR_NONE, IR_FUSED, " fused"},
                 {IR_NONE, IR_STEP, " step"}};
    for (size_t i = 0; i < ARRAY_LENGTH(flags); i++)
        if (n->flags & flags[i].bit && (!flags[i].kind || flags[i].kind == (ir_kind)n->kind))
            text_add(pr->out, flags[i].word);
}

static void print_program(printer *pr);

static void print_numbers(text *out, const char *word, uint32_t n, const uint32_t *number)
{
    text_printf(out, " %s (", word);
    for (uint32_t i = 0; i < n; i++)
        if (number[i] & IR_PASSED)
            text_printf(out, "%sinput %u", i ? ", " : "", number[i] & ~(uint32_t)IR_PASSED);
        else
            text_printf(out, "%s%u", i ? ", " : "", number[i]);
    text_add(out, ")");
}

/* The tables of a region, and its program between braces, with names of its own. */
static void print_region(printer *pr, const ir_control *c, uint32_t number)
{
    const ir_region *r = &c->region[number];
    uint32_t results = c->form == IR_WHILE ? (number ? c->parts + 1 : 1) : c->parts;
    printer inside;
    text_printf(pr->out, "    region rounds %u index %u", r->rounds, r->index);
    if (r->many || r->most)
        text_printf(pr->out, " many %u most %u limit %u", r->many, r->most, r->limit);
    print_numbers(pr->out, "inputs", r->program->input.n, r->source);
    print_numbers(pr->out, "values", r->values, r->value);
    print_numbers(pr->out, "extents", r->values, r->dim);
    print_numbers(pr->out, "results", results, r->result);
    text_add(pr->out, " {\n");
    printer_init(&inside, r->program, pr->out);
    printer_collect(&inside, 0, NULL, true);
    inside.site.at = pr->site.at;
    inside.site.n = pr->site.n;
    print_program(&inside);
    text_add(pr->out, "    }\n");
}

static void print_control(printer *pr, const ir_array *a)
{
    static const char *const forms[] = {"choice", "while", "repeat", "foreign"};
    const ir_control *c = a->control;
    text_printf(pr->out, " %s %u (", forms[c->form], c->parts);
    for (uint32_t i = 0; i < a->inputs; i++) {
        text_add(pr->out, i ? ", " : "");
        print_name(pr, printer_item(pr, a->input[i]));
    }
    text_add(pr->out, ") values (");
    print_terms(pr, c->values, c->value);
    text_add(pr->out, ")\n");
    for (uint32_t i = 0; i < c->regions; i++)
        print_region(pr, c, i);
}

static void print_label(printer *pr, const char *name)
{
    bool plain = name[0] != 0;
    for (const char *c = name; *c; c++)
        plain &= (*c >= 'a' && *c <= 'z') || *c == '_' || (c > name && *c >= '0' && *c <= '9');
    if (plain)
        text_add(pr->out, name);
    else
        print_string(pr->out, name);
    text_add(pr->out, ": ");
}

static void print_array(printer *pr, ir_id id)
{
    const ir_node *n = ir_at(pr->p, id);
    const ir_array *a = n->u.info;
    const char *kind = ir_kind_name((ir_kind)n->kind);
    print_array_name(pr, id);
    text_add(pr->out, " = ");
    if (a->name && strcmp(a->name, kind) != 0)
        print_label(pr, a->name);
    text_add(pr->out, kind);
    print_site(pr, n->site);
    print_flags(pr, n);
    if (n->kind == IR_CONTROL) {
        print_control(pr, a);
        return;
    }
    if (n->kind == IR_PART)
        text_printf(pr->out, " %u", n->args);
    if (n->kind == IR_PERMUTE && !a->fn)
        text_add(pr->out, " last");
    if (printer_has_shape((ir_kind)n->kind)) {
        text_add(pr->out, " ");
        print_shape(pr, a);
    }
    if (n->kind == IR_INPUT)
        print_types(pr, a);
    if (a->data)
        print_data(pr, a);
    if (a->keys)
        text_printf(pr->out, " keys %u", (unsigned)a->keys);
    if (a->behind)
        text_printf(pr->out, " behind %u", (unsigned)a->behind);
    print_operands(pr, a);
    if (a->seed) {
        text_add(pr->out, " seed ");
        print_terms(pr, a->components, a->seed);
    }
    if (a->fn) {
        text_add(pr->out, " ");
        print_fn(pr, a->fn);
    }
    text_add(pr->out, "\n");
}

/* The program's own lines: arrays and shared closed terms, in the order of ids. */
static void print_statements(printer *pr)
{
    for (uint32_t k = 0; k < pr->block.at[0].line.n; k++) {
        uint32_t place = pr->block.at[0].line.at[k];
        pr->variables = pr->terms = 0;
        if (ir_is_array(pr->p, pr->item.at[place].id))
            print_array(pr, pr->item.at[place].id);
        else
            print_line(pr, place, 0);
    }
}

static void print_checks(printer *pr)
{
    for (uint32_t k = 0; k < pr->p->check.n; k++) {
        const ir_check *c = &pr->p->check.at[k];
        text_add(pr->out, "check");
        print_site(pr, c->site);
        text_add(pr->out, " ");
        print_term(pr, c->left, LEVEL_SUM);
        text_add(pr->out, " == ");
        print_term(pr, c->right, LEVEL_SUM);
        text_add(pr->out, " ");
        print_string(pr->out, c->what ? c->what : "");
        text_add(pr->out, "\n");
    }
}

static void print_program(printer *pr)
{
    const ir_program *p = pr->p;
    text *out = pr->out;
    for (uint32_t k = 0, number = 0; k < p->dim.n; k++) {
        text_add(out, k ? ", " : "extents ");
        print_dim(pr, k);
        if (number < p->number.n && p->number.at[number].dim == k)
            text_printf(out, " = %" PRId64, p->number.at[number++].value);
    }
    text_add(out, p->dim.n ? "\n" : "");
    print_statements(pr);
    print_checks(pr);
    for (uint32_t k = 0; k < p->output.n; k++) {
        text_add(out, k ? ", " : "output ");
        print_array_name(pr, p->output.at[k]);
    }
    text_add(out, p->output.n ? "\n" : "");
}

void ir_print(const ir_program *p, text *out)
{
    printer pr;
    printer_init(&pr, p, out);
    printer_collect(&pr, 0, NULL, true);
    print_sites(&pr);
    print_program(&pr);
}
