import { expect, it } from 'vitest'
import { Devices } from './devices.ts'
import { fakeStore } from './testing/fakes.ts'

const device = (deviceId: string, label: string) => ({ deviceId, label }) as MediaDeviceInfo

it('devices without a name get one, and a browser may list none', async () => {
  const source = {
    microphone: async () => [device('m1', 'Headset'), device('m2', '')],
    camera: () => Promise.reject(new Error('no TLS')),
    speaker: async () => [],
  }
  const devices = new Devices(source, fakeStore(), () => {})
  await devices.refresh()
  expect(devices.list('microphone').map(({ label }) => label)).toEqual(['Headset', 'Microphone 2'])
  expect(devices.list('camera')).toEqual([])
})

it('the chosen devices are stored; without a choice the browser decides', () => {
  const none = async () => []
  const source = { microphone: none, camera: none, speaker: none }
  const store = fakeStore()
  const before = new Devices(source, store, () => {})
  expect(before.options({ video: true })).toEqual({ audio: true, video: true })
  before.choose('microphone', 'm1')
  before.choose('camera', 'c1')
  before.choose('camera', undefined)
  const after = new Devices(source, store, () => {})
  expect(after.options({ video: true })).toEqual({ audio: { deviceId: 'm1' }, video: true })
  expect(after.options()).toMatchObject({ video: false })
})
