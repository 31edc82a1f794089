import { hkdfSync, randomBytes } from 'node:crypto'
import type { CarrierConfig, Config } from '../../config/types.ts'
import { SystemClock } from '../core/clock.ts'
import { createLog } from '../core/log.ts'
import { createDirectory, type Directory } from '../directory/directory.ts'
import { directoryOptions } from '../directory/opening/directory-options.ts'
import { copyDirectory, readSecret } from '../directory/opening/directory-snapshot.ts'
import { declaredBy } from '../directory/provision/declared.ts'
import { memoryOf } from '../directory/provision/declared-memory.ts'
import { Passwords } from '../directory/writing/passwords.ts'
import type { AddressBook } from '../model.ts'
import type { AdmissionRules } from '../sip/admission/admission-decision.ts'
import { CarrierDirectory } from '../sip/trunks/carrier-directory.ts'
import { owned } from './agent-options.ts'

/** Domain application, as far as it concerns the senders of calls. */
export interface RouteDomain {
  readonly project?: string | undefined
  readonly allow?: readonly string[] | undefined
  readonly challenge?: { readonly username: string } | undefined
  readonly guarded?: boolean
}

/** Objects on which a route depends. */
export interface RouteObjects {
  readonly directory: AdmissionRules['directory'] & AddressBook
  readonly domains: readonly RouteDomain[]
  readonly carriers: readonly CarrierConfig[]
}

/** Returns the objects that the configuration file declares. */
export const fileObjects = (config: Config): RouteObjects => {
  const carriers = new CarrierDirectory(config.carriers, { now: () => 0 })
  const directory = memoryOf(declaredBy(config), (number, projectId) =>
    carriers.numberTarget(number, projectId),
  )
  return { directory, domains: config.domains, carriers: config.carriers }
}

/** Objects of the file and of the store, as a gateway would have them. */
export interface StoredObjects {
  readonly objects: RouteObjects
  /** Name of the store. */
  readonly store: string
  close(): Promise<void>
}

/**
 * Reads the store of a configuration, and adds what its file declares, as a start of the gateway would. The
 * store is copied and does not change. Resolves with undefined if there is no store yet. Throws
 * StoreVersionDiffers, or an error that names a store that cannot be read.
 */
export const storedObjects = async (config: Config): Promise<StoredObjects | undefined> => {
  const clock = new SystemClock()
  const log = createLog({ level: 'silent', pretty: false })
  const { url, ...options } = directoryOptions(config)
  const copy = await copyDirectory({ file: options.file, url, clock, log })
  if (!copy) return undefined
  try {
    const carriers = new CarrierDirectory([], { now: () => 0 })
    const directory = await createDirectory({
      ...options,
      file: copy.file,
      secret: readSecret(options.file) ?? randomBytes(32),
      // The copy has no sign-ins, so that a hash need not be slow to compute.
      passwords: new Passwords(async (password, salt, length) =>
        Buffer.from(hkdfSync('sha256', password, salt, '', length)),
      ),
      numberTarget: (number, projectId) => carriers.numberTarget(number, projectId),
      clock,
      log,
    })
    const objects = objectsOf(config, directory)
    carriers.change(objects.carriers)
    return { objects, store: copy.name, close: () => directory.close().finally(copy.remove) }
  } catch (error) {
    copy.remove()
    throw error
  }
}

const objectsOf = (config: Config, directory: Directory): RouteObjects => {
  let found: Omit<RouteObjects, 'directory'> = { domains: [], carriers: [] }
  directory.onSenders(({ domains, carriers }) => {
    found = { domains, carriers: [...owned(config), ...carriers] }
  })
  return { directory, ...found }
}
