import { describe, expect, it } from 'vitest'
import { carrier, carriers, testFolder } from '../testing/config-test-folder.ts'

const { load, placesOf: places, faultsOf } = testFolder()
const suites = (text: string) =>
  carriers(carrier(`srtp: required, srtpWithoutTls: true, srtpSuites: ${text}`))

describe('SRTP suites', () => {
  it('are those of the file, in its order; default all', () => {
    const given = load(suites('[AEAD_AES_256_GCM, AES_CM_128_HMAC_SHA1_80]'))
    expect(given.carriers[0]?.srtpSuites).toEqual(['AEAD_AES_256_GCM', 'AES_CM_128_HMAC_SHA1_80'])
    expect(load(carriers(carrier('srtp: optional'))).carriers[0]?.srtpSuites).toEqual([
      'AES_CM_128_HMAC_SHA1_80',
      'AEAD_AES_256_GCM',
      'AEAD_AES_128_GCM',
      'AES_256_CM_HMAC_SHA1_80',
      'AES_CM_128_HMAC_SHA1_32',
      'AES_256_CM_HMAC_SHA1_32',
    ])
  })

  it.each([
    ['an unknown suite', '[AES_CM_128_HMAC_SHA1_80, F8_128_HMAC_SHA1_80]', 'srtpSuites[1]'],
    ['another spelling', '[aead_aes_256_gcm]', 'srtpSuites[0]'],
    ['an empty list', '[]', 'srtpSuites'],
    ['duplicates', '[AEAD_AES_256_GCM, AEAD_AES_256_GCM]', 'srtpSuites[1]'],
    ['text', 'AEAD_AES_256_GCM', 'srtpSuites'],
  ])('may not be %s', (_what, text, where) => {
    expect(places(suites(text))).toEqual([`carriers[0].${where}`])
  })

  it('are listed in the fault of an unknown suite', () => {
    expect(JSON.stringify(faultsOf(suites('[F8_128_HMAC_SHA1_80]')))).toMatch(
      /must be one of AES_CM_128_HMAC_SHA1_80, .*AES_256_CM_HMAC_SHA1_32/,
    )
  })
})
