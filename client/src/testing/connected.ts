import { Client } from '../client.ts'
import type { ClientOptions } from '../types.ts'
import { FakeBrowser } from './fakes.ts'

/** A client that has connected in a browser: by default one of its own. `protocol` is the server's answer. */
export const connected = async (
  options: Partial<ClientOptions> = {},
  browser: FakeBrowser = new FakeBrowser(),
  protocol = 'signalwire_j_1_p',
) => {
  const client = new Client({ token: 't1', ...options }, browser.environment)
  const connecting = client.connect()
  browser.socket.welcome(protocol)
  await connecting
  return { browser, client }
}
