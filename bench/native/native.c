/*
 * How little a create can cost with the service's promise: HTTP/1.1 on epoll and SQLite with synchronous=FULL, on one
 * thread. All creates that have arrived share one commit, and each answer follows its commit. It reads only what the
 * bench sends: one request at a time, with a Content-Length, and a flat JSON object whose strings have no backslash.
 * Usage: native FOLDER PORT, with the token in BENCH_TOKEN.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { CONNECTIONS_MAX = 1024, REQUEST_BYTES_MAX = 16384, EVENTS_MAX = 256 };

/* Part of the bytes of a connection. */
typedef struct { const char *at; int length; } Text;

typedef struct { long long id; Text name, tag; bool has_id, is_new; } Plant;

/* One request at a time. While its create waits for the commit, nothing is read. */
typedef struct { int socket; bool is_waiting; size_t received; Plant plant; char bytes[REQUEST_BYTES_MAX]; } Connection;

static char authorization[256];
static int poller, connected, waiting;
static Connection *creates[CONNECTIONS_MAX];
static sqlite3_stmt *begin, *commit, *insert;

static void fail(const char *what) {
  fprintf(stderr, "native: %s: %s\n", what, strerror(errno));
  exit(1);
}

/* --- SQLite --- */

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql) {
  sqlite3_stmt *statement;
  if (sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL) != SQLITE_OK) fail(sqlite3_errmsg(db));
  return statement;
}

/* Runs a statement that returns no rows. After an error it answers nothing more. */
static void run(sqlite3_stmt *statement) {
  if (sqlite3_step(statement) != SQLITE_DONE) fail(sqlite3_errmsg(sqlite3_db_handle(statement)));
  sqlite3_reset(statement);
}

static void open_store(const char *folder) {
  char path[4096];
  sqlite3 *db;
  snprintf(path, sizeof path, "%s/plants.db", folder);
  if (sqlite3_open(path, &db) != SQLITE_OK) fail(path);
  const char *schema = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                       "CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT;"
                       "CREATE INDEX plants_by_tag ON plants (tag) WHERE tag IS NOT NULL";
  if (sqlite3_exec(db, schema, NULL, NULL, NULL) != SQLITE_OK) fail(sqlite3_errmsg(db));
  begin = prepare(db, "BEGIN IMMEDIATE");
  commit = prepare(db, "COMMIT");
  insert = prepare(db, "INSERT INTO plants (id, name, tag) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING");
}

static void store(Plant *plant) {
  sqlite3_bind_int64(insert, 1, plant->id);
  sqlite3_bind_text(insert, 2, plant->name.at, plant->name.length, SQLITE_STATIC);
  /* Without a tag the text is NULL, and so is the column. */
  sqlite3_bind_text(insert, 3, plant->tag.at, plant->tag.length, SQLITE_STATIC);
  run(insert);
  plant->is_new = sqlite3_changes(sqlite3_db_handle(insert)) == 1;
}

/* --- JSON --- */

static const char *skip_space(const char *at) {
  return at + strspn(at, " \t\r\n");
}

/* A string without escapes. Returns what follows it, or NULL. */
static const char *parse_string(const char *at, Text *text) {
  if (*at != '"') return NULL;
  const char *end = text->at = at + 1;
  while (*end != '"' && *end != '\\' && (unsigned char)*end >= ' ') end++;
  text->length = (int)(end - text->at);
  return *end == '"' ? end + 1 : NULL;
}

static const char *parse_int64(const char *at, long long *value) {
  char *end;
  errno = 0;
  *value = strtoll(at, &end, 10);
  bool is_number = *at == '-' || (*at >= '0' && *at <= '9');
  return is_number && errno == 0 && end > at ? end : NULL;
}

static bool is_key(Text key, const char *name) {
  return (size_t)key.length == strlen(name) && memcmp(key.at, name, strlen(name)) == 0;
}

static const char *parse_member(const char *at, Plant *plant) {
  Text key, other;
  if (!(at = parse_string(skip_space(at), &key)) || *(at = skip_space(at)) != ':') return NULL;
  at = skip_space(at + 1);
  if (is_key(key, "id")) return (plant->has_id = (at = parse_int64(at, &plant->id)) != NULL) ? at : NULL;
  return parse_string(at, is_key(key, "name") ? &plant->name : is_key(key, "tag") ? &plant->tag : &other);
}

/* The text ends with a NUL. */
static bool parse_plant(const char *at, Plant *plant) {
  *plant = (Plant){0};
  at = skip_space(at);
  for (char separator = '{'; *at == separator; separator = ',') {
    if (!(at = parse_member(at + 1, plant))) return false;
    at = skip_space(at);
  }
  return *at == '}' && *skip_space(at + 1) == '\0' && plant->has_id && plant->name.at;
}

/* --- HTTP --- */

static void hang_up(Connection *connection) {
  close(connection->socket);
  free(connection);
  connected--;
}

/* A client that does not read its answers is cut. */
static void answer(Connection *connection, const char *status, const char *body, int length) {
  char text[REQUEST_BYTES_MAX + 256];
  int bytes = snprintf(text, sizeof text, "HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%.*s", status, length,
                       length, body);
  connection->received = 0;
  connection->is_waiting = false;
  if (send(connection->socket, text, (size_t)bytes, MSG_NOSIGNAL) != bytes) hang_up(connection);
}

static void answer_create(Connection *connection) {
  char body[REQUEST_BYTES_MAX];
  const Text name = connection->plant.name, tag = connection->plant.tag;
  if (!connection->plant.is_new) return answer(connection, "409 Conflict", "{}", 2);
  int length = snprintf(body, sizeof body, "{\"name\":\"%.*s\"", name.length, name.at);
  if (tag.at) length += snprintf(body + length, sizeof body - (size_t)length, ",\"tag\":\"%.*s\"", tag.length, tag.at);
  body[length++] = '}';
  answer(connection, "200 OK", body, length);
}

/* The value of a field line, if it has this name. */
static const char *value_of(const char *line, const char *name) {
  size_t length = strlen(name);
  return strncasecmp(line, name, length) == 0 && line[length] == ':' ? line + length + 1 + strspn(line + length + 1, " \t") : NULL;
}

/* Answers the request when it has arrived whole, or adds it to the creates that wait. */
static void take_request(Connection *connection) {
  const char *bytes = connection->bytes, *head_end = strstr(bytes, "\r\n\r\n"), *value;
  if (!head_end) return;
  size_t body_bytes = 0, token_length = strlen(authorization);
  bool is_allowed = false;
  for (const char *line = bytes; (line = strstr(line, "\r\n") + 2) < head_end;) {
    if ((value = value_of(line, "content-length"))) body_bytes = strtoul(value, NULL, 10);
    else if ((value = value_of(line, "authorization")))
      is_allowed = !strncmp(value, authorization, token_length) && value[token_length] == '\r';
    else if (value_of(line, "transfer-encoding")) return hang_up(connection);
  }
  const char *body = head_end + 4;
  size_t arrived = connection->received - (size_t)(body - bytes);
  if (arrived < body_bytes) return;
  if (arrived > body_bytes) return hang_up(connection);
  if (!strncmp(bytes, "GET /readyz ", 12)) return answer(connection, "200 OK", "{}", 2);
  if (strncmp(bytes, "POST /plants ", 13) != 0) return answer(connection, "404 Not Found", "{}", 2);
  if (!is_allowed) return answer(connection, "401 Unauthorized", "{}", 2);
  if (!parse_plant(body, &connection->plant)) return answer(connection, "400 Bad Request", "{}", 2);
  connection->is_waiting = true;
  creates[waiting++] = connection;
}

static void receive(Connection *connection) {
  if (connection->is_waiting) return;
  /* One byte is left for a NUL. A request that is too large finds no room, and recv returns 0. */
  size_t room = REQUEST_BYTES_MAX - 1 - connection->received;
  ssize_t bytes = recv(connection->socket, connection->bytes + connection->received, room, MSG_DONTWAIT);
  if (bytes < 0 && errno == EAGAIN) return;
  if (bytes <= 0) return hang_up(connection);
  connection->received += (size_t)bytes;
  connection->bytes[connection->received] = '\0';
  take_request(connection);
}

static void accept_from(int listener) {
  int socket = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
  Connection *connection = socket >= 0 && connected < CONNECTIONS_MAX ? malloc(sizeof *connection) : NULL;
  if (!connection) return (void)close(socket);
  connected++;
  connection->socket = socket;
  connection->is_waiting = false;
  connection->received = 0;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
  epoll_ctl(poller, EPOLL_CTL_ADD, socket, &(struct epoll_event){.events = EPOLLIN, .data.ptr = connection});
}

/* Takes what has arrived. Returns whether creates joined those that wait. */
static bool take_turn(int listener, int wait_ms) {
  struct epoll_event events[EVENTS_MAX];
  int before = waiting, count = epoll_wait(poller, events, EVENTS_MAX, wait_ms);
  for (int at = 0; at < count; at++) {
    if (events[at].data.ptr) receive(events[at].data.ptr);
    else accept_from(listener);
  }
  return waiting > before;
}

static void commit_creates(void) {
  run(begin);
  for (int at = 0; at < waiting; at++) store(&creates[at]->plant);
  run(commit);
  for (int at = 0; at < waiting; at++) answer_create(creates[at]);
  waiting = 0;
}

int main(int count, char **arguments) {
  const char *token = getenv("BENCH_TOKEN");
  if (count != 3 || !token) return fputs("Usage: BENCH_TOKEN=... native FOLDER PORT\n", stderr), 1;
  snprintf(authorization, sizeof authorization, "Bearer %s", token);
  open_store(arguments[1]);
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
  struct sockaddr_in address = {AF_INET, htons((uint16_t)atoi(arguments[2])), {htonl(INADDR_LOOPBACK)}, {0}};
  if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, CONNECTIONS_MAX) != 0) fail("listen");
  poller = epoll_create1(0);
  epoll_ctl(poller, EPOLL_CTL_ADD, listener, &(struct epoll_event){.events = EPOLLIN, .data.ptr = NULL});
  for (;;) {
    take_turn(listener, -1);
    /* What clients send when they get the answers of the last commit joins this one. */
    if (waiting > 0) while (take_turn(listener, 0));
    if (waiting > 0) commit_creates();
  }
}
