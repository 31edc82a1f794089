import type { ElementReader } from '../element-reader.ts'
import { codes } from '../faults.ts'
import type { ElementKind } from '../verb.ts'

/** Element `Parameter`: a name and a value for the far side. */
export const parameter: ElementKind = { name: 'Parameter', attributes: ['name', 'value'] }

/** Reads the `Parameter` children of an element, by name. The last one of a name counts. */
export const readParameters = (reader: ElementReader): Readonly<Record<string, string>> => {
  const parameters: Record<string, string> = Object.create(null)
  for (const { reader: child } of reader.nestedOf([parameter])) {
    const name = child.text('name')
    if (name) parameters[name] = child.text('value') ?? ''
    else child.warning(codes.schema, 'Parameter needs a name; it has no effect.')
  }
  return { ...parameters }
}
