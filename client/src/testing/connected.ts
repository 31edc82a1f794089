import { Client } from '../client.ts'
import type { ClientOptions } from '../types.ts'
import { FakeBrowser, settled } from './fakes.ts'

/** Returns a connected client, in a new browser or after a reload. `protocol` is the server's answer. */
export const connected = async (
  options: Partial<ClientOptions> = {},
  browser: FakeBrowser = new FakeBrowser(),
  protocol = 'signalwire_j_1_p',
) => {
  browser.unloaded()
  const client = new Client({ token: 't1', ...options }, browser.environment)
  const connecting = client.connect()
  await settled()
  browser.socket.welcome(protocol)
  await connecting
  return { browser, client }
}
