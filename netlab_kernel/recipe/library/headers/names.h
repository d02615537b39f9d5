/* Included after the precompiled header: gives make's definitions for each file their own names again. */
#ifdef NETWORK_STREAMS
static const char own_basename[sizeof(own_basename)] = OWN_KBUILD_BASENAME;
#undef KBUILD_BASENAME
#endif
#define KBUILD_BASENAME OWN_KBUILD_BASENAME
#define KBUILD_MODFILE OWN_KBUILD_MODFILE
#define KBUILD_MODNAME OWN_KBUILD_MODNAME
#define __KBUILD_MODNAME OWN___KBUILD_MODNAME
