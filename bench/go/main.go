// What a Go user would write instead: net/http, database/sql and mattn/go-sqlite3, one insert and one commit per
// request. Usage: contender --port PORT --data FOLDER --synchronous FULL|NORMAL, with the token in BENCH_TOKEN.
package main

import (
	"database/sql"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"path/filepath"

	_ "github.com/mattn/go-sqlite3"
)

const insert = "INSERT INTO plants (id, name, tag) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING"

var levels = map[string]int{"NORMAL": 1, "FULL": 2}

type plant struct {
	Name *string `json:"name"`
	Tag  *string `json:"tag,omitempty"`
}

type newPlant struct {
	ID *int64 `json:"id"`
	plant
}

func main() {
	port := flag.Int("port", 0, "")
	data := flag.String("data", "", "")
	synchronous := flag.String("synchronous", "", "")
	flag.Parse()
	db := open(*data, *synchronous)
	statement, err := db.Prepare(insert)
	check(err)
	http.HandleFunc("/readyz", func(http.ResponseWriter, *http.Request) {})
	http.HandleFunc("/plants", create(statement, "Bearer "+os.Getenv("BENCH_TOKEN")))
	log.Fatal(http.ListenAndServe(fmt.Sprintf("127.0.0.1:%d", *port), nil))
}

func open(data, synchronous string) *sql.DB {
	file := filepath.Join(data, "plants.db")
	db, err := sql.Open("sqlite3", fmt.Sprintf("file:%s?_journal_mode=WAL&_synchronous=%s", file, synchronous))
	check(err)
	// SQLite has one writer: with more connections, requests would fail because the database is locked.
	db.SetMaxOpenConns(1)
	var level int
	check(db.QueryRow("PRAGMA synchronous").Scan(&level))
	if level != levels[synchronous] {
		log.Fatal("--synchronous must be FULL or NORMAL")
	}
	_, err = db.Exec(`CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT;
		CREATE INDEX plants_by_tag ON plants (tag) WHERE tag IS NOT NULL`)
	check(err)
	return db
}

func create(statement *sql.Stmt, authorization string) http.HandlerFunc {
	return func(response http.ResponseWriter, request *http.Request) {
		if request.Method != http.MethodPost {
			response.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		if request.Header.Get("Authorization") != authorization {
			response.WriteHeader(http.StatusUnauthorized)
			return
		}
		var body newPlant
		if err := json.NewDecoder(request.Body).Decode(&body); err != nil || body.ID == nil || body.Name == nil {
			response.WriteHeader(http.StatusBadRequest)
			return
		}
		result, err := statement.Exec(*body.ID, *body.Name, body.Tag)
		if err != nil {
			response.WriteHeader(http.StatusInternalServerError)
			return
		}
		if inserted, _ := result.RowsAffected(); inserted == 0 {
			response.WriteHeader(http.StatusConflict)
			return
		}
		response.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(response).Encode(body.plant)
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
