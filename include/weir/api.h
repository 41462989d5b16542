/* api.h -- what every public header is built with: linkage, visibility, results that must be used.
 *
 * All of libweir's interface is C11 and can be included from C++11. A header puts its declarations
 * between WEIR_BEGIN_DECLS and WEIR_END_DECLS, so that a C++ program links with a C library.
 */
#ifndef WEIR_API_H
#define WEIR_API_H

#ifdef __cplusplus
#define WEIR_BEGIN_DECLS extern "C" {
#define WEIR_END_DECLS   }
#else
#define WEIR_BEGIN_DECLS
#define WEIR_END_DECLS
#endif

#if defined(__GNUC__)
#define WEIR_MUST_USE __attribute__((warn_unused_result))
#define WEIR_API      __attribute__((visibility("default")))
#else
#define WEIR_MUST_USE
#define WEIR_API
#endif

/* A struct of options begins with its size, so that a program goes on working with a library whose
 * struct has more members: those that it does not know have their defaults, which is 0 for all.
 *
 *     struct weir_project_options options = WEIR_PROJECT_OPTIONS_INIT;
 *     options.policy = "tiered";
 *
 * A size of 0 stands for the members of version 0.1.0, also in a library that has more: what came
 * later is then not read. A member that the library in use is too old for is refused
 * (WEIR_INVALID) unless it is 0. All other public structs keep their size for as long as the
 * library's soname stays. */
#ifdef __cplusplus
#define WEIR_OPTIONS_INIT(type)              \
    ([] {                                    \
        type options = {};                   \
        options.struct_bytes = sizeof(type); \
        return options;                      \
    }())
#else
#define WEIR_OPTIONS_INIT(type)      \
    {                                \
        .struct_bytes = sizeof(type) \
    }
#endif

#endif
