import { describe, expect, it } from 'vitest'
import { checkTransfer, readDial, readUpdate } from './orders.ts'

const url = 'https://app.example.com/hello.json'
const dial = { from: '+4930123', to: '+4940123', url }

describe('what is told of a call', () => {
  it.each([
    [{}, undefined],
    [{ status_url: url }, ['completed']],
    [{ status_url: url, status_events: [] }, ['completed']],
    [{ status_url: url, status_events: ['created', 'ended'] }, ['initiated', 'completed']],
    [{ status_events: ['created'] }, undefined],
  ])('%o is %o', (more, states) => {
    expect(readDial({ ...dial, ...more }, 'p').status?.states).toEqual(states)
  })

  it.each(['gone', 'constructor', '__proto__', 'toString', ''])('is refused: %j is no event', (event) => {
    const params = { ...dial, status_url: url, status_events: [event] }
    expect(() => readDial(params, 'p')).toThrow(expect.objectContaining({ name: 'Refusal' }))
    expect(() => readUpdate({ id: 'a', ...params })).toThrow()
  })
})

it('variables of a call are texts, whatever their names', () => {
  const custom_variables = JSON.parse('{"order": 7, "__proto__": "x", "vip": true}')
  const { variables } = readDial({ ...dial, custom_variables }, 'p')
  expect(Object.entries(variables ?? {})).toEqual([
    ['order', '7'],
    ['__proto__', 'x'],
    ['vip', 'true'],
  ])
})

it.each(['ai', 'amazon_bedrock', 'ai_sidecar'])(
  'a script that hands the call to an agent (%s) is refused',
  (name) => {
    const swml = {
      version: '1.0.0',
      sections: { main: ['answer', { [name]: { prompt: { text: 'Hello' } } }] },
    }
    const refusal = expect.objectContaining({ code: 'document_invalid', facts: { attribute: 'swml' } })
    expect(() => readDial({ ...dial, url: undefined, swml }, 'p')).toThrow(refusal)
    expect(() => readDial({ ...dial, url: undefined, swml: JSON.stringify(swml) }, 'p')).toThrow(refusal)
    expect(() => readUpdate({ id: 'a', swml })).toThrow(refusal)
    expect(() => readDial({ ...dial, url: undefined, swml }, 'p')).toThrow(
      `The method ${name} is not supported here`,
    )
  },
)

it('a script that a call is transferred to is checked; an address is not one', () => {
  expect(() => checkTransfer({ dest: ' {"sections": {}}' })).toThrow(
    expect.objectContaining({ code: 'document_invalid', facts: { attribute: 'dest' } }),
  )
  for (const dest of ['{"sections":{"main":["hangup"]}}', url, '/public/menu', undefined])
    expect(() => checkTransfer({ dest })).not.toThrow()
})
