import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import type { Method } from '../../handlers/script/method.ts'
import { methods } from '../../handlers/script/methods/index.ts'
import { unsupportedMethods } from '../../handlers/script/methods/unsupported.ts'
import { scriptConformance } from './script.ts'
import { absentMethods } from './script-flow.ts'
import { noEffect, type ScriptRow } from './script-rows.ts'

/** Names of a method's parameters in documents. */
const parametersOf = ({
  wholeParameter: whole,
  nested = {},
  properties,
  withoutEffect = [],
}: Method): readonly string[] => {
  if (whole === undefined) return [...Object.keys(properties), ...withoutEffect]
  if (nested[whole] === 'conditions') return ['when', 'then', 'else']
  return nested[whole] === 'cases' ? ['variable', 'case', 'default'] : []
}

const nameOf = ({ method, parameter }: ScriptRow): string => (parameter ? `${method}.${parameter}` : method)

it('the table of the script language has exactly the methods and parameters that the reader accepts', () => {
  const taken = [...methods].flatMap(([name, method]) => [
    name,
    ...parametersOf(method).map((parameter) => `${name}.${parameter}`),
  ])
  expect(scriptConformance.map(nameOf).toSorted()).toEqual(taken.toSorted())
})

it('the table of the script language marks exactly the parameters without effect', () => {
  const without = [...methods].flatMap(([name, { withoutEffect = [] }]) =>
    withoutEffect.map((one) => `${name}.${one}`),
  )
  const reported = scriptConformance.filter(({ state }) => state === noEffect).map(nameOf)
  expect(reported.toSorted()).toEqual(without.toSorted())
  expect(absentMethods).toEqual(Object.keys(unsupportedMethods))
})

it.each(scriptConformance.map((row) => [nameOf(row), row] as const))(
  'the test that the table names for %s exists',
  (_name, { method, parameter, test: [file, title] }) => {
    const source = readFileSync(new URL(`../../handlers/script/methods/${file}`, import.meta.url), 'utf8')
    expect(
      [`'${title}'`, `"${title}"`].some((quoted) => source.includes(quoted)),
      title,
    ).toBe(true)
    if (!absentMethods.includes(method)) expect(source).toMatch(new RegExp(`\\b${parameter ?? method}\\b`))
  },
)
