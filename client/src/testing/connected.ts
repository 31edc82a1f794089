import { Client } from '../client.ts'
import type { ClientOptions } from '../types.ts'
import { FakeBrowser, settled } from './fakes.ts'

/** A client that has connected in a browser: by default one of its own, else after a reload there. `protocol` is the server's answer. */
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
