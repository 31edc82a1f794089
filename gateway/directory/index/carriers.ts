import { readCarrierEntry } from '../../../config/carrier-entry.ts'
import type { CarrierConfig } from '../../../config/sip-types.ts'
import type { Sealing } from '../../core/sealing.ts'
import type { CarrierEntry, CarrierRecord } from '../ports.ts'
import type { CarrierTable } from '../schema.ts'
import type { Store } from '../sqlite.ts'

/** The passwords of a carrier; they are kept sealed, and never shown. */
export interface CarrierSecrets {
  /** Which we show to it. */
  readonly auth?: string
  /** Which it has to show to us. */
  readonly challenge?: string
}

/** A carrier in memory: as the API shows it, and as calls go by it. */
export interface StoredCarrier {
  readonly record: CarrierRecord
  /** Undefined: it cannot be used as it is. */
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

/** Throws for secrets that were sealed by another gateway's key, and for an entry that no rule lets pass any more. */
const configOf = (
  { id, projectId, name, entry }: CarrierRecord,
  sealed: string | null,
  sealing: Pick<Sealing, 'open'>,
): CarrierConfig => {
  const read = readCarrierEntry(withSecrets(entry, openedSecrets(id, sealed, sealing)))
  if ('faults' in read)
    throw new Error(read.faults.map(({ path, message }) => `${path} ${message}`).join('; '))
  // Two projects may use one name; in metrics and records each has one of its own.
  return { ...read.carrier, name: `${projectId}/${name}`, project: projectId, guarded: true }
}

/** The passwords of a carrier. Throws for those that another gateway's key has sealed. */
export const openedSecrets = (
  id: string,
  sealed: string | null,
  sealing: Pick<Sealing, 'open'>,
): CarrierSecrets => (sealed === null ? {} : JSON.parse(sealing.open(sealed, id)))

/** The entry with its passwords. */
export const withSecrets = (entry: CarrierEntry, { auth, challenge }: CarrierSecrets): CarrierEntry => ({
  ...entry,
  ...(entry.auth && { auth: { ...entry.auth, ...(auth !== undefined && { password: auth }) } }),
  ...(entry.challenge && {
    challenge: { ...entry.challenge, ...(challenge !== undefined && { password: challenge }) },
  }),
})

/** The entry without its passwords, and these. */
export const withoutSecrets = (
  entry: CarrierEntry,
): { readonly entry: CarrierEntry; readonly secrets: CarrierSecrets } => {
  const { auth, challenge, ...rest } = entry
  const parted = (account: CarrierEntry['auth']) => {
    const { password, ...shown } = account ?? {}
    return { password, shown }
  }
  const [own, theirs] = [parted(auth), parted(challenge)]
  return {
    entry: { ...rest, ...(auth && { auth: own.shown }), ...(challenge && { challenge: theirs.shown }) },
    secrets: {
      ...(own.password !== undefined && { auth: own.password }),
      ...(theirs.password !== undefined && { challenge: theirs.password }),
    },
  }
}

/** What stored carriers are opened with. */
export interface CarrierOpening {
  readonly sealing: Pick<Sealing, 'open'>
  /** Told of one that cannot be used. */
  readonly fault: (id: string, error: unknown) => void
}

/** Every carrier that the API made. */
export class StoredCarriers {
  readonly #opening: CarrierOpening | undefined
  #byId = new Map<string, StoredCarrier>()

  /** `opening` undefined: there are none. */
  constructor(opening?: CarrierOpening) {
    this.#opening = opening
  }

  /** In the order in which they were made. */
  get all(): readonly StoredCarrier[] {
    return [...this.#byId.values()]
  }

  /** Reads them all: there are not many, and they seldom change. */
  async read(store: Store): Promise<void> {
    const rows = await store.selectFrom('carrier').selectAll().orderBy('created_at').orderBy('id').execute()
    const opening = this.#opening
    this.#byId = new Map(opening ? rows.map((row) => [row.id, storedCarrierOf(row, opening)]) : [])
  }
}

/** One that cannot be used is there all the same: it may be given its passwords again, or be removed. */
const storedCarrierOf = (row: CarrierTable, { sealing, fault }: CarrierOpening): StoredCarrier => {
  const record = recordOf(row)
  try {
    return { record, config: configOf(record, row.secrets, sealing) }
  } catch (error) {
    fault(row.id, error)
    return { record, config: undefined }
  }
}
