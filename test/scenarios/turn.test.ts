/** @schedule tones: a browser sends sound through a TURN server in real time. */

import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type IceServer, turnCredential } from '../../gateway/rpc/subscriber/ice-servers.ts'
import { Browser } from '../support/browser.ts'
import { Carrier } from '../support/carrier.ts'
import { Coturn, coturn } from '../support/coturn.ts'
import { Gateway } from '../support/gateway.ts'
import { hears } from '../support/page-audio.ts'
import { isInstalled } from '../support/program.ts'
import { SdkPage } from '../support/sdk-page.ts'
import { until } from '../support/until.ts'

const sdkTone = 1200
const secret = 'a-secret-of-the-turn-server-and-the-gateway'

/**
 * Paths of the page's calls: kinds of its own candidates (RFC 8839), and the transport to the TURN server.
 */
const waysOut = `(async () => {
  const ways = []
  for (const peer of testPeers.filter((each) => each.connectionState === 'connected')) {
    const stats = await peer.getStats()
    const { selectedCandidatePairId } = [...stats.values()].find(({ type }) => type === 'transport')
    const { candidateType, relayProtocol } = stats.get(stats.get(selectedCandidatePairId).localCandidateId)
    ways.push([candidateType, relayProtocol])
  }
  return ways
})()`

/**
 * Result of gathering with a server: the number of relay candidates, and error codes (RFC 8489 section 14.8).
 */
const gathering = (servers: readonly IceServer[]): string => `(async () => {
  const peer = new RTCPeerConnection({ iceTransportPolicy: 'relay', iceServers: ${JSON.stringify(servers)} })
  const found = { relays: 0, errors: [] }
  const done = new Promise((resolve) => {
    peer.onicecandidate = ({ candidate }) => {
      if (!candidate) resolve()
      else if (candidate.type === 'relay') found.relays++
    }
  })
  peer.onicecandidateerror = ({ errorCode }) => {
    if (!found.errors.includes(errorCode)) found.errors.push(errorCode)
  }
  peer.createDataChannel('any')
  await peer.setLocalDescription()
  await done
  peer.close()
  return found
})()`

interface Gathered {
  readonly relays: number
  readonly errors: readonly number[]
}

describe.skipIf(!isInstalled(coturn))('the TURN server coturn', () => {
  let browser: Browser
  let gateway: Gateway
  let server: Coturn

  beforeAll(async () => {
    server = await Coturn.start(secret)
    const browsing = Browser.start(sdkTone)
    gateway = await Gateway.start({ turn: { urls: [server.udp, server.tcp], secret } })
    browser = await browsing
  })

  afterAll(async () => {
    await browser?.stop()
    await gateway?.stop()
    await server?.stop()
  })

  const gathers = (page: Page, username: string, credential: string): Promise<Gathered> =>
    page.evaluate(gathering([{ urls: [server.udp], username, credential }])) as Promise<Gathered>

  it.each(['udp', 'tcp'] as const)(
    'relays a call of the published SDK over %s, with sound both ways',
    async (kind) => {
      const before = server.users.length
      const carrier = await Carrier.listens({ scenario: 'callee-hangs-up', holdMs: 'manual' })
      const page = await SdkPage.open(browser, gateway, undefined, { turnOnly: kind })
      onTestFinished(() => page.close())
      await page.dial(carrier.uri)
      await carrier.talks('invited', 600)
      await hears(page.page, 600)
      await carrier.hears(sdkTone, 500)
      expect(await page.page.evaluate(waysOut)).toEqual([['relay', kind]])
      const users = await until(
        'coturn has logged the relay',
        () => server.users.slice(before),
        ({ length }) => length > 0,
      )
      const { id } = (await page.ask('getSubscriberInfo')) as { id: string }
      for (const user of users) expect(user).toMatch(new RegExp(`^\\d+:${id}$`))
      await carrier.goesOn()
      await carrier.done()
      await gateway.settled()
    },
  )

  it('rejects a password that has expired or was derived from another secret', async () => {
    const page = await browser.page()
    onTestFinished(() => page.context().close())
    const now = Math.floor(Date.now() / 1000)
    const good = turnCredential(secret, 'alice', now + 3600)
    expect(await gathers(page, good.username, good.credential)).toEqual({ relays: 1, errors: [] })
    const expired = turnCredential(secret, 'alice', now - 60)
    expect(await gathers(page, expired.username, expired.credential)).toEqual({ relays: 0, errors: [401] })
    const wrong = turnCredential(`${secret}.`, 'alice', now + 3600)
    expect(await gathers(page, wrong.username, wrong.credential)).toEqual({ relays: 0, errors: [401] })
    const longer = `${now + 7200}:alice`
    expect(await gathers(page, longer, good.credential)).toEqual({ relays: 0, errors: [401] })
  })
})
