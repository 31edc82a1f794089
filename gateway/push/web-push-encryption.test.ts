import { describe, expect, it } from 'vitest'
import { makeBrowser } from './testing/push-servers.ts'
import { encryptForBrowser, maxPlaintextBytes } from './web-push-encryption.ts'

const bytes = (text: string) => Buffer.from(text, 'base64url')

describe('encryption for browsers', () => {
  it('matches the example of RFC 8291, section 5', () => {
    const body = encryptForBrowser(
      Buffer.from('When I grow up, I want to be a watermelon'),
      {
        p256dh: bytes(
          'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
        ),
        auth: bytes('BTBZMqHH6r4Tts7J_aSIgg'),
      },
      {
        salt: bytes('DGv6ra1nlYgDCS1FRnbzlw'),
        privateKey: bytes('yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw'),
      },
    )
    expect(body.toString('base64url')).toBe(
      'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN',
    )
  })

  it('is decrypted by the browser, up to the maximum length', async () => {
    const browser = await makeBrowser()
    const text = 'x'.repeat(maxPlaintextBytes)
    const body = encryptForBrowser(Buffer.from(text), browser)
    expect(body.length).toBe(4096)
    expect(await browser.decrypt(body)).toBe(text)
    expect(() => encryptForBrowser(Buffer.from(`${text}x`), browser)).toThrow(RangeError)
    expect(encryptForBrowser(Buffer.from('a'), browser)).not.toEqual(
      encryptForBrowser(Buffer.from('a'), browser),
    )
  })

  it('rejects a key that is not a point of the curve', () => {
    const p256dh = Buffer.alloc(65, 7)
    expect(() => encryptForBrowser(Buffer.from('a'), { p256dh, auth: Buffer.alloc(16) })).toThrow()
  })
})
