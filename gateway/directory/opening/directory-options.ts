import { join } from 'node:path'
import type { Config, ProjectLimits } from '../../../config/types.ts'
import type { Log } from '../../core/log.ts'
import type { NumberTarget } from '../index/memory.ts'
import type { DeclaringConfig, DirectoryConfig } from '../provision/declared.ts'
import type { EngineOptions } from '../store/engine.ts'
import type { Passwords } from '../writing/passwords.ts'

/** Options of `createDirectory`. */
export interface DirectoryOptions extends EngineOptions {
  /** Declarations of the configuration file. */
  readonly config: DirectoryConfig
  /** Limits of one project; default those of the configuration's schema. */
  readonly limits?: ProjectLimits
  /** Suffix of the domains of domain applications; default `dapp.localhost`. */
  readonly domainSuffix?: string
  /** Key that detects changes of a declared password; kept outside the store. At least 16 bytes. */
  readonly secret: Uint8Array
  readonly log: Pick<Log, 'info' | 'error'>
  /** Hashes passwords; default {@link Passwords} at its full cost. */
  readonly passwords?: Passwords
  /**
   * Returns the target of a telephone number (digits, with or without a plus): a carrier's address. Default:
   * none.
   */
  readonly numberTarget?: NumberTarget
}

/** Returns the options of the directory that the configuration sets. */
export const directoryOptions = (
  config: Config,
): Omit<DirectoryOptions, 'secret' | 'clock' | 'log' | 'numberTarget'> & DeclaringConfig => ({
  ...config.store,
  file: join(config.dataDir, 'trunkline.db'),
  config,
  limits: config.limits.project,
  domainSuffix: config.sip.domainSuffix ?? `dapp.${hostOf(config.http.publicHost) ?? 'localhost'}`,
})

/**
 * Returns a host name without its port. Returns undefined for an IP address, which can have no subdomains.
 */
const hostOf = (hostPort: string | undefined): string | undefined => {
  const host = hostPort?.replace(/:\d+$/, '')
  return host !== undefined && /[a-z]/i.test(host) && !host.includes(':') ? host : undefined
}
