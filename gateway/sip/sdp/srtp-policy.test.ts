import { expect, it } from 'vitest'
import { narrowed, srtpPolicy } from './srtp-policy.ts'

it('the called domain’s policy decides on encryption, and uses only suites of its carrier', () => {
  const srtpSuites = ['AEAD_AES_128_GCM', 'AES_CM_128_HMAC_SHA1_80'] as const
  const policy = srtpPolicy({ srtp: 'optional', srtpSuites, srtpWithoutTls: false }, true)
  expect(narrowed(policy, undefined)).toEqual(policy)
  expect(narrowed(policy, { encryption: 'optional' })).toEqual(policy)
  expect(narrowed(policy, { encryption: 'required' }).mode).toBe('required')
  expect(narrowed(policy, { encryption: 'forbidden' }).mode).toBe('off')
  const ciphers = ['AES_CM_128_HMAC_SHA1_80', 'AES_256_CM_HMAC_SHA1_80']
  expect(narrowed(policy, { ciphers }).suites).toEqual(['AES_CM_128_HMAC_SHA1_80'])
})
