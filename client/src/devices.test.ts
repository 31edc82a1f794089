import { afterEach, expect, it, vi } from 'vitest'
import { getCameraDevices, getMicrophoneDevices, getSpeakerDevices } from './devices.ts'

afterEach(() => vi.unstubAllGlobals())

it('devices are listed by kind, without devices that have no id yet', async () => {
  const devices = ['audioinput a', 'audioinput b', 'videoinput c', 'audiooutput d', 'videoinput '].map(
    (device) => ({ kind: device.split(' ')[0], deviceId: device.split(' ')[1] }),
  )
  vi.stubGlobal('navigator', { mediaDevices: { enumerateDevices: async () => devices } })
  const lists = [await getMicrophoneDevices(), await getCameraDevices(), await getSpeakerDevices()]
  expect(lists.map((list) => list.map(({ deviceId }) => deviceId).join())).toEqual(['a,b', 'c', 'd'])
})

it('a page without TLS has no devices', async () => {
  vi.stubGlobal('navigator', {})
  await expect(getMicrophoneDevices()).rejects.toMatchObject({ code: 'insecure_page' })
})
