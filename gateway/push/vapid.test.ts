import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { madeVapidKeys, newVapidKeys, Vapid, vapidOptions } from './vapid.ts'

const secret = new Uint8Array(32).fill(7)
const subject = 'mailto:ops@x.example'

it('always derives the same pair from a secret, as browsers have subscribed with it', () => {
  const { publicKey } = madeVapidKeys(secret)
  expect(publicKey).toBe(
    'BHLQ1tmMjyEPjROsN3WYlQNoFK8RlwvLv5DN4n_pVr3hAJqdSsWqyHYR57VNNbxnAHuEHZmBsSk6e2Whrh2qoiA',
  )
  expect(madeVapidKeys(new Uint8Array(32).fill(8)).publicKey).not.toBe(publicKey)
})

it('makes pairs that can sign', async () => {
  for (let turn = 0; turn < 50; turn++) {
    const keys = madeVapidKeys(randomBytes(32))
    const vapid = await Vapid.open({ subject, ...keys })
    expect(await vapid.authorization(new URL('https://push.example/1'), 0)).toContain(`k=${keys.publicKey}`)
  }
})

it('uses the configured keys if present', () => {
  const keys = newVapidKeys()
  expect(vapidOptions({ subject, ...keys }, secret)).toEqual({ subject, ...keys })
  expect(vapidOptions({ subject }, secret)).toEqual({ subject, ...madeVapidKeys(secret) })
})
