"""zstd and brotli as they are sent, without either library: blocks that are stored, not packed."""
import struct


def zstd(raw):
    """RFC 8878: a frame of raw blocks, of a known size."""
    out = b'\x28\xb5\x2f\xfd' + b'\xa0' + struct.pack('<I', len(raw))  # one segment, size in 4
    pieces = [raw[at:at + 65536] for at in range(0, len(raw), 65536)] or [b'']
    for n, piece in enumerate(pieces):
        is_last = n + 1 == len(pieces)
        out += struct.pack('<I', len(piece) << 3 | is_last)[:3] + piece
    return out


def brotli(raw):
    """RFC 7932: a window of 16 bits, then uncompressed meta-blocks."""
    out, bits, count = b'', 0, 1  # the window: one bit, 0
    for at in range(0, len(raw), 65536):
        piece = raw[at:at + 65536]
        # Not the last; four nibbles of length; the length less one; uncompressed.
        bits |= (len(piece) - 1 << 3 | 1 << 19) << count
        count += 20
        out += bits.to_bytes((count + 7) // 8, 'little') + piece
        bits = count = 0
    bits |= 3 << count  # the last, and empty
    return out + bits.to_bytes((count + 9) // 8, 'little')
