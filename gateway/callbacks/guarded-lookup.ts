import { type LookupAddress, lookup as systemLookup } from 'node:dns'
import { isIP } from 'node:net'
import type { AddressGuard } from '@trunkline/sip-agent/address-guard'
import { AddressRefused } from './answers.ts'

/** Resolves a name to all its addresses. */
export type Resolve = (
  hostname: string,
  done: (error: Error | null, addresses: readonly LookupAddress[]) => void,
) => void

/** The `lookup` of `net.connect`. */
export type Lookup = (
  hostname: string,
  options: { readonly all?: boolean | undefined },
  done: (error: Error | null, address: string | LookupAddress[], family?: number) => void,
) => void

const resolveBySystem: Resolve = (hostname, done) =>
  systemLookup(hostname, { all: true }, (error, addresses) => done(error, addresses))

/** Returns the host of a URL without the brackets of an IPv6 address. */
export const bareHost = ({ hostname }: Pick<URL, 'hostname'>): string => hostname.replace(/^\[|\]$/g, '')

/** Returns the IP address in a URL; undefined for a host name. */
export const literalOf = (url: Pick<URL, 'hostname'>): string | undefined => {
  const host = bareHost(url)
  return isIP(host) === 0 ? undefined : host
}

/**
 * Returns a `lookup` for `net.connect` that fails with {@link AddressRefused} if any address of the name is
 * not permitted. The connection uses exactly these addresses, so an attacker cannot change them by a second
 * resolution. An IP address in a URL ({@link literalOf}) is not looked up, and must be checked before.
 */
export const guardedLookup =
  (guard: Pick<AddressGuard, 'permits'>, resolve: Resolve = resolveBySystem): Lookup =>
  (hostname, options, done) => {
    resolve(hostname, (error, addresses) => {
      const [first] = addresses ?? []
      if (error || !first) return done(error ?? new Error(`the name ${hostname} has no address`), [])
      const bad = addresses.find(({ address }) => !guard.permits(address))
      if (bad) return done(new AddressRefused(bad.address), [])
      if (options.all) return done(null, [...addresses])
      return done(null, first.address, first.family)
    })
  }
