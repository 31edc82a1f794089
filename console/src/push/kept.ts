import type { DecryptedPush } from '@trunkline/client'
import type { Account } from '../api.ts'
import type { Language } from '../texts/alerts.ts'

/** Registration of this browser as a device: the data that the service worker needs without an open page. */
export interface Registration {
  readonly account: Account
  /** Id of the device at the gateway. */
  readonly deviceId: string
  /** Base64 of the key that decrypts notifications. */
  readonly key: string
}

/** Call that the user wants to see or answer, for the page that is being opened. */
export interface PendingCall {
  readonly push: DecryptedPush
  readonly answer: boolean
  /** Milliseconds since the epoch. */
  readonly at: number
}

/** Data shared by page and service worker. */
export interface Kept {
  readonly registration: Registration
  readonly pending: PendingCall
  /** Language of the page. */
  readonly language: Language
}

/**
 * Stores the data shared by page and service worker. All methods may reject if the browser permits no
 * storage.
 */
export interface KeptStore {
  get<Name extends keyof Kept>(name: Name): Promise<Kept[Name] | undefined>
  set<Name extends keyof Kept>(name: Name, value: Kept[Name]): Promise<void>
  remove(name: keyof Kept): Promise<void>
}

const asked = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })

const databaseName = 'trunkline'
const tableName = 'push'

/** {@link KeptStore} in the browser's database, which pages and workers of one origin share. */
export class BrowserStore implements KeptStore {
  #database: Promise<IDBDatabase> | undefined

  async get<Name extends keyof Kept>(name: Name): Promise<Kept[Name] | undefined> {
    return asked<Kept[Name] | undefined>((await this.#table('readonly')).get(name))
  }

  async set<Name extends keyof Kept>(name: Name, value: Kept[Name]): Promise<void> {
    await asked((await this.#table('readwrite')).put(value, name))
  }

  async remove(name: keyof Kept): Promise<void> {
    await asked((await this.#table('readwrite')).delete(name))
  }

  async #table(mode: IDBTransactionMode): Promise<IDBObjectStore> {
    this.#database ??= this.#open()
    return (await this.#database).transaction(tableName, mode).objectStore(tableName)
  }

  #open(): Promise<IDBDatabase> {
    const request = indexedDB.open(databaseName, 1)
    request.onupgradeneeded = () => request.result.createObjectStore(tableName)
    return asked(request)
  }
}
