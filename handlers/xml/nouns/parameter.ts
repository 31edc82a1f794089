import type { ElementReader } from '../element-reader.ts'
import { codes } from '../faults.ts'
import type { ElementKind } from '../verb.ts'

/** `Parameter`: a name and a value that the other side is told. */
export const parameter: ElementKind = { name: 'Parameter', attributes: ['name', 'value'] }

/** The values of the `Parameter`s in an element, by name; of two with one name the last. */
export const readParameters = (reader: ElementReader): Readonly<Record<string, string>> => {
  const parameters: Record<string, string> = Object.create(null)
  for (const { reader: child } of reader.nestedOf([parameter])) {
    const name = child.text('name')
    if (name) parameters[name] = child.text('value') ?? ''
    else child.warning(codes.schema, 'Parameter needs a name; it has no effect.')
  }
  return { ...parameters }
}
