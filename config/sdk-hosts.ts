import { isIP } from 'node:net'

/**
 * The hosts that the published browser SDK asks: over WebSockets the public one, over HTTP the same with
 * `fabric` as its first label.
 */
export const sdkHosts = (publicHost: string | undefined): string[] => {
  if (publicHost === undefined) return ['localhost']
  const { hostname } = new URL(`https://${publicHost}`)
  const [, ...parent] = hostname.split('.')
  const address = hostname.replace(/^\[|\]$/g, '')
  // Nothing is above an address, nor above a name of one label.
  if (isIP(address) !== 0 || parent.length === 0) return [address]
  return [hostname, ['fabric', ...parent].join('.')]
}
