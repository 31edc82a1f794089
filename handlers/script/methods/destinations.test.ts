import { expect, it } from 'vitest'
import { deviceOf } from './destinations.ts'

it.each([
  ['+15550003', { type: 'phone', params: { from_number: '+15550001', to_number: '+15550003' } }],
  [
    'sip:desk@carrier.example',
    { type: 'sip', params: { from: '+15550001', to: 'sip:desk@carrier.example' } },
  ],
  ['/public/menu', { type: 'sip', params: { from: '+15550001', to: '/public/menu' } }],
] as const)('a SIP callee has the type phone if a number was dialled: %s', (to, device) => {
  expect(deviceOf({ to, from: '+15550001', type: 'sip' })).toEqual(device)
})
