/* The headers that most files of net/ include, without net/pkt_cls.h and net/tcp.h, whose functions print the name of the file's module. */
static const char own_basename[64];
#define KBUILD_BASENAME own_basename /* network_random.h names the file's stream by it */
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <net/sock.h>
