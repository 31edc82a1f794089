import { join } from 'node:path'
import type { Config } from '../../../config/types.ts'
import type { DeclaringConfig } from '../declared.ts'
import type { DirectoryOptions } from './directory.ts'

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
