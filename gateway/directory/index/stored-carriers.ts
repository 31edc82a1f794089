import { readCarrierEntry } from '../../../config/carrier-entry.ts'
import type { CarrierConfig } from '../../../config/types.ts'
import type { Sealing } from '../../core/sealing.ts'
import type { CarrierEntry, CarrierRecord } from '../model/ports.ts'
import type { CarrierTable } from '../store/schema.ts'
import type { Store } from '../store/sqlite.ts'

/** Passwords of a carrier; they are stored sealed, and never shown. */
export interface CarrierSecrets {
  /** Password that the gateway presents. */
  readonly auth?: string
  /** Password that the carrier must present. */
  readonly challenge?: string
}

/** Carrier in memory: its record for the API, and its configuration for calls. */
export interface StoredCarrier {
  readonly record: CarrierRecord
  /** Configuration for calls; undefined if the carrier cannot be used. */
  readonly config: CarrierConfig | undefined
}

const recordOf = (row: CarrierTable): CarrierRecord => {
  const { id, project_id: projectId, name, created_at: createdAt, updated_at: updatedAt } = row
  return {
    id,
    projectId,
    name,
    entry: JSON.parse(row.entry_json),
    managedByFile: false,
    createdAt,
    updatedAt,
  }
}

/**
 * Returns a carrier's configuration. Throws if another gateway's key sealed the passwords, or if the entry
 * violates the rules.
 */
const configOf = (
  { id, projectId, name, entry }: CarrierRecord,
  sealed: string | null,
  sealing: Pick<Sealing, 'open'>,
): CarrierConfig => {
  const read = readCarrierEntry(withSecrets(entry, openedSecrets(id, sealed, sealing)))
  if ('faults' in read)
    throw new Error(read.faults.map(({ path, message }) => `${path} ${message}`).join('; '))
  // Two projects may use the same name; metrics and records need a unique one.
  return { ...read.carrier, name: `${projectId}/${name}`, project: projectId, guarded: true }
}

/** Returns the passwords of a carrier. Throws if another gateway's key has sealed them. */
export const openedSecrets = (
  id: string,
  sealed: string | null,
  sealing: Pick<Sealing, 'open'>,
): CarrierSecrets => (sealed === null ? {} : JSON.parse(sealing.open(sealed, id)))

/** Returns the entry with its passwords. */
export const withSecrets = (entry: CarrierEntry, { auth, challenge }: CarrierSecrets): CarrierEntry => ({
  ...entry,
  ...(entry.auth && { auth: { ...entry.auth, ...(auth !== undefined && { password: auth }) } }),
  ...(entry.challenge && {
    challenge: { ...entry.challenge, ...(challenge !== undefined && { password: challenge }) },
  }),
})

/** Returns the entry without its passwords, and the passwords. */
export const withoutSecrets = (
  entry: CarrierEntry,
): { readonly entry: CarrierEntry; readonly secrets: CarrierSecrets } => {
  const { auth, challenge, ...rest } = entry
  const parted = (account: CarrierEntry['auth']) => {
    const { password, ...shown } = account ?? {}
    return { password, shown }
  }
  const own = parted(auth)
  const theirs = parted(challenge)
  return {
    entry: { ...rest, ...(auth && { auth: own.shown }), ...(challenge && { challenge: theirs.shown }) },
    secrets: {
      ...(own.password !== undefined && { auth: own.password }),
      ...(theirs.password !== undefined && { challenge: theirs.password }),
    },
  }
}

/** Collaborators for opening stored carriers. */
export interface CarrierOpening {
  readonly sealing: Pick<Sealing, 'open'>
  /** Called for each carrier that cannot be used. */
  readonly fault: (id: string, error: unknown) => void
}

/** All carriers of the API. */
export class StoredCarriers {
  readonly #opening: CarrierOpening | undefined
  #byId = new Map<string, StoredCarrier>()

  /** `opening`: if undefined, no carriers are read. */
  constructor(opening?: CarrierOpening) {
    this.#opening = opening
  }

  /** All carriers, in the order of their creation. */
  get all(): readonly StoredCarrier[] {
    return [...this.#byId.values()]
  }

  /** Reads all carriers: there are few, and they seldom change. */
  async read(store: Store): Promise<void> {
    const rows = await store.selectFrom('carrier').selectAll().orderBy('created_at').orderBy('id').execute()
    const opening = this.#opening
    this.#byId = new Map(opening ? rows.map((row) => [row.id, storedCarrierOf(row, opening)]) : [])
  }
}

/** Returns the carrier of a row. An unusable one is kept, so that it can get new passwords or be removed. */
const storedCarrierOf = (row: CarrierTable, { sealing, fault }: CarrierOpening): StoredCarrier => {
  const record = recordOf(row)
  try {
    return { record, config: configOf(record, row.secrets, sealing) }
  } catch (error) {
    fault(row.id, error)
    return { record, config: undefined }
  }
}
