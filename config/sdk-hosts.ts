import { isIP } from 'node:net'

/**
 * Returns the hosts that the published browser SDK uses: the public host for WebSockets, and the same with
 * `fabric` as its first label for HTTP.
 */
export const sdkHosts = (publicHost: string | undefined): string[] => {
  if (publicHost === undefined) return ['localhost']
  const { hostname } = new URL(`https://${publicHost}`)
  const [, ...parent] = hostname.split('.')
  const address = hostname.replace(/^\[|\]$/g, '')
  // An IP address, and a name with a single label, have no parent domain.
  if (isIP(address) !== 0 || parent.length === 0) return [address]
  return [hostname, ['fabric', ...parent].join('.')]
}
