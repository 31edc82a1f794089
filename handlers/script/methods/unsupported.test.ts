import { afterAll, describe, expect, it } from 'vitest'
import { faultsOf, TestScripts } from '../../testing/test-scripts.ts'
import { unsupportedMethods } from './unsupported.ts'

const scripts = new TestScripts()
afterAll(() => scripts.close())

describe('a method without a verb', () => {
  it.each(Object.keys(unsupportedMethods))('%s fails at run time, and the script continues', async (name) => {
    const parameters = { prompt: { text: `Ask \${for} the {name}, \${` }, timeout: 99_999, url: 'x' }
    const { names, warnings } = await scripts.run([{ [name]: parameters }, name, { sleep: 1 }])
    expect(names).toEqual(['sleep'])
    expect(warnings).toEqual([
      `/sections/main/0/${name} method_unsupported`,
      '/sections/main/1 method_unsupported',
      `/sections/main/0/${name} method_execute_failed`,
      '/sections/main/1 method_execute_failed',
    ])
  })

  it('sets its variable and script_error', async () => {
    expect(await scripts.say('%{send_sms_result} %{script_error}', [{ send_sms: { body: 'a' } }])).toBe(
      'failed relay_script_method_execute_failed',
    )
  })

  it('is distinct from an unknown method', () => {
    expect(faultsOf([{ dance: {} }])).toEqual(['/0/dance method_undefined'])
    expect(faultsOf(['constructor'])).toEqual(['/0 method_undefined'])
  })
})
