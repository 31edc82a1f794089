/** @schedule tones first: two browsers with sound and video, in a minute of calls. */

/** Two browsers with cameras, and telephones: one gateway and the same browsers for all groups of tests. */
import { afterAll, beforeAll } from 'vitest'
import { freePort } from '../../media/testing/free-ports.ts'
import { TwoBrowsers } from '../support/two-browsers.ts'
import { browserMoves, tour } from './groups/browser-moves.ts'
import { browserVideo } from './groups/browser-video.ts'
import { browsersAndPhone, centre, help } from './groups/browsers-and-phone.ts'

const two = new TwoBrowsers()
/** Ports of the telephones. */
const ports = { desk: 0, phone: 0 }

beforeAll(async () => {
  for (const name of ['desk', 'phone'] as const) ports[name] = await freePort()
  await two.start({ domains: [centre], resources: [tour(ports.desk), help(ports.phone)] })
})

afterAll(() => two.stop())

browserVideo(two)
browserMoves(two, () => ports.desk)
browsersAndPhone(two, () => ports.phone)
