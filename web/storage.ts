/** What a tab keeps as long as it is open; only as long as the page, where the browser keeps nothing for pages. */
export function tabStorage(): Storage {
  try {
    return readable(sessionStorage);
  } catch {
    return (memory ??= createMemory());
  }
}

/** What a browser keeps for good, if it does. */
export function deviceStorage(): Storage | undefined {
  try {
    return readable(localStorage);
  } catch {
    return undefined;
  }
}

/** Throws if nothing can be read: Firefox gives a storage whose file is damaged all the same. */
function readable(storage: Storage): Storage {
  storage.getItem("");
  return storage;
}

/** Keeps a text, if there is room for it. */
export function keepItem(storage: Storage, name: string, text: string): boolean {
  try {
    storage.setItem(name, text);
    return true;
  } catch {
    return false;
  }
}

let memory: Storage | undefined;

function createMemory(): Storage {
  const items = new Map<string, string>();
  return {
    get length() {
      return items.size;
    },
    key: (at) => [...items.keys()][at] ?? null,
    getItem: (name) => items.get(name) ?? null,
    setItem: (name, text) => void items.set(name, text),
    removeItem: (name) => void items.delete(name),
    clear: () => items.clear(),
  };
}
