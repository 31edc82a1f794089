import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'

/** Returns the addresses of a hosts file by lower-case name. */
export const parseHosts = (text: string): Map<string, string[]> => {
  const hosts = new Map<string, string[]>()
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/)
    if (!isIP(address)) continue
    for (const name of names) {
      const key = name.toLowerCase()
      hosts.set(key, [...(hosts.get(key) ?? []), address])
    }
  }
  return hosts
}

/** Names under `localhost` are this machine, whatever the file contains (RFC 6761 6.3). */
const isLocal = (name: string) => name === 'localhost' || name.endsWith('.localhost')

/** Returns the addresses of a name in this machine's hosts file; empty if it has none. Never rejects. */
export const hostsFileAddresses = async (name: string, family: 4 | 6): Promise<string[]> => {
  const text = await readFile('/etc/hosts', 'utf8').catch(() => '')
  const listed =
    parseHosts(text)
      .get(name)
      ?.filter((address) => isIP(address) === family) ?? []
  if (listed.length > 0 || !isLocal(name)) return listed
  return [family === 4 ? '127.0.0.1' : '::1']
}
