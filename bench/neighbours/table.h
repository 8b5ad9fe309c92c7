/* Makes the table nb_<NB_GROUP> of the rows of NB_TABLE; ends a file of sinter/. A row is
 *
 *     ROW(name, signature, function for Sinter, C function, SIZES({n, m}, ...), other members of nb_program ...)
 *     EQUAL(name, signature, function, the same written plainly, SIZES(...), ...)
 */
#define SIZES(...) .extents = {__VA_ARGS__}
#define EXTENTS(...)                                                                                                   \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }

#define ROW(name_, signature_, build_, c_, ...) nb_c nb_c_##c_;
#define EQUAL(name_, signature_, build_, other_, ...)
#include NB_TABLE
#undef ROW
#undef EQUAL

#define ROW(name_, signature_, build_, c_, ...)                                                                        \
    {.name = name_, .signature = signature_, .build = NB_BUILD(build_), .c = nb_c_##c_, __VA_ARGS__},
#define EQUAL(name_, signature_, build_, other_, ...)                                                                  \
    {.name = name_, .signature = signature_, .build = NB_BUILD(build_), .other = NB_BUILD(other_), __VA_ARGS__},
#define NB_TABLE_OF_(group) nb_##group
#define NB_TABLE_OF(group) NB_TABLE_OF_(group)
const struct nb_program NB_TABLE_OF(NB_GROUP)[] = {
#include NB_TABLE
    {.name = NULL}};
