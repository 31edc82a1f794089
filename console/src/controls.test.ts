import { ClientError } from '@trunkline/client'
import { expect, it } from 'vitest'
import { type FakeCall, phoneRig } from './testing/fakes.ts'

const talking = async () => {
  const rig = await phoneRig()
  await rig.phone.dial('/public/bob')
  const call = rig.calls[0] as FakeCall
  call.become('active')
  return { ...rig, call, controls: rig.phone.controls }
}

it('the camera is added, and removed without losing the video of the far side', async () => {
  const { call, controls, devices } = await talking()
  devices.choose('camera', 'c1')
  await controls.toggleCamera()
  call.video = { local: true, remote: true }
  await controls.toggleCamera()
  expect(call.asked).toEqual([
    'media {"video":{"direction":"sendrecv","constraints":{"deviceId":"c1"}}}',
    'media {"video":{"direction":"recvonly"}}',
  ])
})

it('a screen is shared, and the share is ended', async () => {
  const { call, controls } = await talking()
  await controls.toggleShare()
  const left: string[] = []
  call.screenShareList = [{ state: 'active', leave: async () => void left.push('left') }]
  await controls.toggleShare()
  expect([call.asked, left]).toEqual([['share'], ['left']])
})

it('cancelling the choice of a screen is not reported, a missing permission is', async () => {
  const { call, controls, phone } = await talking()
  call.failing = new ClientError('screen_refused', '')
  await controls.toggleShare()
  expect(phone.notice).toBeUndefined()
  call.failing = new ClientError('no_capability', '')
  await controls.toggleShare()
  expect(phone.notice).toEqual({ tone: 'warning', text: 'This call does not support this.' })
})

it('another device is used at once, a camera only while it is on', async () => {
  const { call, controls, devices } = await talking()
  await controls.choose('microphone', 'm2')
  await controls.choose('camera', 'c2')
  await controls.choose('speaker', 's2')
  call.video = { local: true, remote: false }
  await controls.choose('camera', undefined)
  expect(call.asked).toEqual(['microphone m2', 'speaker s2', 'camera default'])
  expect([devices.chosen('microphone'), devices.chosen('camera')]).toEqual(['m2', undefined])
})

it('a new name of the far side is shown, and a broken media path until it is restored', async () => {
  const { call, phone } = await talking()
  call.tell('display', { name: 'Bob Brown', number: '' })
  call.tell('media.reconnecting')
  expect(phone.current).toMatchObject({ name: 'Bob Brown', number: '/public/bob', broken: true })
  call.tell('media.connected')
  expect(phone.current?.broken).toBe(false)
})
