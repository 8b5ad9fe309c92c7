/* The checker of programs against programs of which one rule each is broken. */
#ifndef SN_TEST_BROKEN_RULES_H
#define SN_TEST_BROKEN_RULES_H

#include "ir/term_fixture.h"

/* Makes a program that is right and breaks its rule number `which`, from 0 on; -1: none. Gives what the message says, or
 * NULL if there is no such rule. */
typedef const char *break_rule(fixture *f, int which);

static inline void every_rule_is_kept_by(break_rule *broken)
{
    const char *what = "";
    for (int which = -1; what; which++) {
        void *state;
        set_up(&state);
        fixture *f = state;
        const char *why = NULL;
        what = broken(f, which);
        bool good = ir_check_program(f->p, &f->a, &why);
        if (good != (which < 0 || !what))
            fail_msg("damage %d (%s): %s", which, what ? what : "none", good ? "accepted" : why);
        if (!good && !strstr(why, what))
            fail_msg("damage %d: said `%s`, not `%s`", which, why, what);
        tear_down(&state);
    }
}

#endif
