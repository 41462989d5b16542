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

#endif
