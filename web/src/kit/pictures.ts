import { useCallback, useEffect, useRef, useState } from 'react'
import { imageIn, imageProblem, imagesProblem } from '../../../src/domain/rules/images.ts'
import { ask, type Output } from '../api/client.ts'
import { plain } from './plain.ts'
import { complain, tell } from './toasts.tsx'

/** An image of a mission that is being written. The server has it already. */
export interface Picture {
  image: string
  name: string
  bytes: number
  src: string
}

type Read = Pick<Output<'get_mission_image'>, 'type' | 'bytes' | 'data'>

export interface Pictures {
  list: readonly Picture[]
  /** Some are on their way to the server. */
  busy: boolean
  add(files: readonly File[]): Promise<void>
  /** Instead of those it has: stored ones, such as those of a template. */
  begin(images: readonly string[], read: (image: string) => Promise<Read>): Promise<void>
  remove(image: string): void
  clear(): void
}

/**
 * The images for a new mission. What cannot be one is refused in words, before it is sent. It begins with those of the
 * mission that the new one is like.
 */
export function usePictures(like?: Pick<Output<'get_mission'>, 'id' | 'images'>): Pictures {
  const [list, setList] = useState<readonly Picture[]>([])
  const [sending, setSending] = useState(0)
  // Files may be added while others are on their way.
  const now = useRef(list)
  const put = useCallback((next: readonly Picture[]) => {
    now.current = next
    setList(next)
  }, [])
  const addOne = useCallback(
    async (file: File) => {
      const bytes = new Uint8Array(await file.arrayBuffer())
      const name = plain(file.name)
      const problem = imageProblem(bytes)
      if (problem) return tell({ text: `${name || 'The image'} ${problem}.`, tone: 'bad' })
      const all = [...now.current.map(each => each.bytes), bytes.length]
      const tooMuch = imagesProblem(all)
      if (tooMuch) return tell({ text: `${name || 'The image'} was not added: ${tooMuch}.`, tone: 'bad' })
      const data = await inBase64(file)
      const { image } = await ask('add_image', { data })
      if (now.current.some(each => each.image === image)) return
      // The type is what the content says, whatever the file claims to be.
      put([...now.current, { image, name, bytes: bytes.length, src: sourceOf(imageIn(bytes)!.type, data) }])
    },
    [put],
  )
  const during = useCallback(async (work: () => Promise<void>) => {
    setSending(count => count + 1)
    await work().catch(complain)
    setSending(count => count - 1)
  }, [])
  const add = useCallback(
    (files: readonly File[]) =>
      during(async () => {
        for (const file of files) await addOne(file)
      }),
    [during, addOne],
  )
  const begin = useCallback<Pictures['begin']>(
    (images, read) => during(async () => put(await Promise.all(images.map(asPicture(read))))),
    [during, put],
  )
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the page opens
  useEffect(() => {
    if (like?.images.length) begin(like.images, image => ask('get_mission_image', { mission_id: like.id, image }))
  }, [])
  const remove = useCallback((image: string) => put(now.current.filter(each => each.image !== image)), [put])
  const clear = useCallback(() => put([]), [put])
  return { list, busy: sending > 0, add, begin, remove, clear }
}

const asPicture = (read: (image: string) => Promise<Read>) => async (image: string, index: number) => {
  const { type, bytes, data } = await read(image)
  return { image, name: `Image ${index + 1}`, bytes, src: sourceOf(type, data) }
}

/** For `<img>` only. There a picture cannot run anything, and its type is one of four. */
export const sourceOf = (type: string, data: string): string => `data:${type};base64,${data}`

const inBase64 = (file: File): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result).split(',', 2)[1] ?? '')
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(file)
  })
