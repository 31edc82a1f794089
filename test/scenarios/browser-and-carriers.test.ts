/** @schedule alone: a browser encodes and decodes sound, which a second browser would tear. */

/** A browser and carriers: one gateway, one browser, and one softphone for all their calls. */
import { afterAll, beforeAll } from 'vitest'
import { freePort } from '../../media/testing/free-ports.ts'
import { BrowserFixture } from '../support/browser-fixture.ts'
import { deskDomain, deskEndpoint, deskRegistrar, endpoints, menuResource } from './groups/endpoints.ts'
import { inbound, inboundDomains } from './groups/inbound.ts'
import { mediaCrash } from './groups/media-crash.ts'
import { outbound, outboundDomains, outboundResources } from './groups/outbound.ts'

const fixture = new BrowserFixture()
/** Port of the default carrier. */
let carrierPort: number

beforeAll(async () => {
  carrierPort = await freePort()
  await fixture.start((documents) => ({
    sip: { registrar: deskRegistrar },
    carriers: [{ name: 'main', targets: [`sip:127.0.0.1:${carrierPort}`], default: true }],
    endpoints: [deskEndpoint],
    domains: [deskDomain, ...inboundDomains(documents), ...outboundDomains(documents)],
    subscribers: [
      { email: 'alice@example.test', password: 'wonderland-9', displayName: 'Alice', mayDialOut: true },
      { email: 'bob@example.test', password: 'builder-77', displayName: 'Bob' },
    ],
    resources: [...outboundResources(documents), menuResource(documents)],
  }))
})

afterAll(() => fixture.stop())

inbound(fixture)
outbound(fixture)
mediaCrash(fixture, deskEndpoint)
endpoints(fixture, () => carrierPort)
