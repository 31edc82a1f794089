import type { UserVariables } from '../../../handlers/verbs.ts'
import { isJsonObject } from '../../core/json.ts'
import { maxMetaCharacters } from '../../rooms/room-meta.ts'

/** Maximum number of characters of the variables of one call, as JSON. They become metadata in a room. */
export const maxVariableCharacters = maxMetaCharacters
/** Maximum number of values, including those of nested objects and lists. */
export const maxVariables = 128
/** Maximum depth; an object of plain values has depth 1. */
export const maxVariableDepth = 8

/** Names that can change an object's prototype when a program copies them. */
const forbidden: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

/** Variables of a page, or the reason for rejecting them, which names the field. */
export type ReadVariables = { readonly variables?: UserVariables } | { readonly fault: string }

/** Reads `dialogParams.userVariables`. An empty object and null count as absent. */
export const readUserVariables = (value: unknown): ReadVariables => {
  if (value === undefined || value === null) return {}
  if (!isJsonObject(value)) return { fault: 'dialogParams.userVariables: expected an object' }
  const fault = faultOf(value)
  if (fault) return { fault: `dialogParams.userVariables: ${fault}` }
  return Object.keys(value).length > 0 ? { variables: value } : {}
}

const faultOf = (variables: Readonly<Record<string, unknown>>): string | undefined => {
  let level: readonly object[] = [variables]
  let count = 0
  for (let depth = 0; level.length > 0; depth++) {
    if (depth >= maxVariableDepth) return `expected at most ${maxVariableDepth} levels`
    const next: object[] = []
    for (const each of level)
      for (const [name, value] of Object.entries(each)) {
        if (forbidden.has(name)) return `the name ${name} is not permitted`
        if (++count > maxVariables) return `expected at most ${maxVariables} values`
        if (typeof value === 'object' && value !== null) next.push(value)
      }
    level = next
  }
  const { length } = JSON.stringify(variables)
  return length > maxVariableCharacters
    ? `expected at most ${maxVariableCharacters} characters of JSON, found ${length}`
    : undefined
}
