/* UDP sockets behind one epoll, without JavaScript: the socket table, receiving and sending. Packets and
 * addresses lie in one block of memory shared with JavaScript, laid out as `shared`;
 * media/edge/sockets-batch.ts reads and writes it. */
#ifndef SOCKETS_H
#define SOCKETS_H
#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

/* VERSION must be raised with every change of the memory layout or of the functions for JavaScript. */
enum { VERSION = 2, SLOTS = 256, SLOT_BYTES = 2048, COUNTERS = 8, MOST_SOCKETS = 0x10000 };
enum { RECEIVED, SENT, RECEIVE_ERRORS, SEND_ERRORS, TOO_LONG, MISADDRESSED, WAKEUPS };
/* Length of an IPv6 address with its zone, as text. */
enum { ADDRESS_TEXT = INET6_ADDRSTRLEN + IF_NAMESIZE + 1 };

/* `socket` is a handle; `offset` and `length` refer to the data; addresses are in network order, IPv4 in the
 * first word; scope is for IPv6. */
typedef struct {
  int32_t socket, offset, length, port, scope;
  uint8_t address[16];
} entry;

/* Received packets, followed by packets to send that are not among the received ones. */
typedef struct {
  _Alignas(8) uint8_t data[2 * SLOTS * SLOT_BYTES];
  entry received[SLOTS], sends[SLOTS], scratch;
  _Alignas(8) double counters[COUNTERS];
} shared;

/* Place of a socket in the table. A handle includes the generation of its place, so that a stale handle never
 * matches the next socket there. */
typedef struct {
  int fd; /* -1: free */
  int32_t generation, next_free;
  bool v6;
} place;

/* All sockets of one thread. */
typedef struct {
  int epoll;
  place *places;
  int32_t size, first_free, open;
  shared *shared;
} sockets;

/* Returns 0, or an errno. */
int sockets_init(sockets *s, shared *memory);
void sockets_end(sockets *s);
/* Binds a socket. Returns 0 and its handle, or an errno. */
int sockets_open(sockets *s, const entry *at, bool v6, int32_t *handle);
/* Returns false for an unknown handle. */
bool sockets_close(sockets *s, int32_t handle);
/* Returns the local port; 0 for a closed socket. */
int sockets_port(const sockets *s, int32_t handle);
/* Receives one packet from each readable socket. Returns the number of entries. Never blocks. */
int sockets_receive(sockets *s);
/* Sends the first entries of `sends`; counts failures. */
void sockets_send(sockets *s, uint32_t count);
/* Parses an IP literal, for IPv6 also with a zone. Returns 4, 6, or 0 for anything else. */
int address_read(char *text, entry *out);
void address_write(const entry *from, bool v6, char text[ADDRESS_TEXT]);
#endif
