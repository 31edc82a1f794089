/*
 * UDP sockets behind one epoll, without JavaScript: the table of them, what is received and what is sent. Packets and addresses lie in one
 * piece of memory that JavaScript sees as well, laid out as `shared`; media/edge/sockets-batch.ts reads and writes it.
 */
#ifndef SOCKETS_H
#define SOCKETS_H
#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

/* A change of anything that JavaScript sees is a new version. */
enum { VERSION = 1, SLOTS = 256, SLOT_BYTES = 2048, COUNTERS = 8, MOST_SOCKETS = 0x10000 };
enum { RECEIVED, SENT, RECEIVE_ERRORS, SEND_ERRORS, TOO_LONG, MISADDRESSED, WAKEUPS };
/* An IPv6 address with its zone, as text. */
enum { ADDRESS_TEXT = INET6_ADDRSTRLEN + IF_NAMESIZE + 1 };

/* `socket` is a handle; `offset` and `length` lie in data; addresses are in network order, IPv4 in the first word; scope is IPv6's. */
typedef struct {
  int32_t socket, offset, length, port, scope;
  uint8_t address[16];
} entry;

/* Received packets, then the packets to be sent that are not among the received ones. */
typedef struct {
  _Alignas(8) uint8_t data[2 * SLOTS * SLOT_BYTES];
  entry received[SLOTS], sends[SLOTS], scratch;
  _Alignas(8) double counters[COUNTERS];
} shared;

/* A place in the table. Handles carry its generation, so that one of a closed socket never means the next in its place. */
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

/* Gives 0, or an errno. */
int sockets_init(sockets *s, shared *memory);
void sockets_end(sockets *s);
/* Binds one: 0 and its handle, or an errno. */
int sockets_open(sockets *s, const entry *at, bool v6, int32_t *handle);
/* False where there is none of that handle. */
bool sockets_close(sockets *s, int32_t handle);
/* The local port; 0 for a closed one. */
int sockets_port(const sockets *s, int32_t handle);
/* Takes one packet from each socket that has any; the number of entries. Never waits. */
int sockets_receive(sockets *s);
/* Sends the first entries of `sends`; what cannot be sent is counted. */
void sockets_send(sockets *s, uint32_t count);
/* Reads an address literal, IPv6 also with a zone. Gives 4, 6, or 0 for anything else. */
int address_read(char *text, entry *out);
void address_write(const entry *from, bool v6, char text[ADDRESS_TEXT]);
#endif
