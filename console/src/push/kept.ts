import type { DecryptedPush } from '@trunkline/client'
import type { Account } from '../api.ts'

/** This browser as a device of the subscriber: what the service worker needs while no page is open. */
export interface Registration {
  readonly account: Account
  /** Of the device at the gateway. */
  readonly deviceId: string
  /** Base64: what notifications are decrypted with. */
  readonly key: string
}

/** A call that the person wants to see or to answer, for the page that is being opened. */
export interface PendingCall {
  readonly push: DecryptedPush
  readonly answer: boolean
  /** Milliseconds since the epoch. */
  readonly at: number
}

/** What page and service worker share. */
export interface Kept {
  readonly registration: Registration
  readonly pending: PendingCall
}

/** Keeps what page and service worker share. Everything may reject where the browser lets nothing be kept. */
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

const DATABASE = 'trunkline'
const TABLE = 'push'

/** {@link KeptStore} in the browser's own database, which pages and workers of one origin share. */
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
    return (await this.#database).transaction(TABLE, mode).objectStore(TABLE)
  }

  #open(): Promise<IDBDatabase> {
    const request = indexedDB.open(DATABASE, 1)
    request.onupgradeneeded = () => request.result.createObjectStore(TABLE)
    return asked(request)
  }
}
