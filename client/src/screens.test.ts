import { expect, it } from 'vitest'
import type { CallSetup } from './call-setup.ts'
import { createLog } from './log.ts'
import { Screens } from './screens.ts'
import { FakeBrowser, FakeStream, FakeTrack, settled } from './testing/fakes.ts'

/** Starts a screen whose code cannot be loaded, while the user chooses. */
const notLoaded = async () => {
  const browser = new FakeBrowser()
  const chosen = Promise.withResolvers<FakeStream>()
  browser.screen = () => chosen.promise
  const setup = {
    options: {},
    environment: browser.environment,
    log: createLog('silent', console),
  } as CallSetup
  const screens = new Screens(setup, () => Promise.reject(new TypeError('not fetched')))
  await expect(screens.start({}, 'm1', undefined)).rejects.toMatchObject({ code: 'screen_failed' })
  expect(screens.all).toEqual([])
  return chosen
}

it('releases a screen that is chosen after its code was not loaded', async () => {
  const chosen = await notLoaded()
  const track = new FakeTrack('video')
  chosen.resolve(new FakeStream([track]))
  await settled()
  expect(track.stopped).toBe(true)
})

it('ignores that the user cancels the choice after that', async () => {
  const unhandled: unknown[] = []
  const note = (reason: unknown) => unhandled.push(reason)
  process.on('unhandledRejection', note)
  const chosen = await notLoaded()
  chosen.reject(new DOMException('no', 'NotAllowedError'))
  // The event is emitted after the microtasks.
  await new Promise((resolve) => setImmediate(resolve))
  process.off('unhandledRejection', note)
  expect(unhandled).toEqual([])
})
