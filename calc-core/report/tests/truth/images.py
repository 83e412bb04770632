"""Makes images.csv: tokens of images, and positions of the encoder, as the package's own processors make them.

Each processor is constructed with the documented sizes and sees blank images; what it writes in the place of an image is
counted. Nothing is downloaded: a stand-in for the tokenizer counts each special token, and two line breaks, as one.

    python images.py            write images.csv
    python images.py --check    fail if it differs from what would be written
"""

import argparse
import csv
import io
import os
import sys
import types
import warnings
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"
warnings.filterwarnings("ignore")

import torch
import transformers
from transformers import models

HERE = Path(__file__).resolve().parent
TABLE = HERE / "images.csv"
SIZES = [
    (1024, 768), (768, 1024), (448, 448), (336, 336), (896, 896), (640, 480), (1920, 1080), (1080, 1920), (3000, 2000),
    (5000, 700), (100, 900), (300, 200), (64, 64), (70, 42), (1540, 1540), (2048, 2048), (1000, 500), (4032, 3024),
]
IMAGE = "\u0001"
# mm_tokens_per_image of Gemma 3.
GEMMA3_TOKENS = 256

transformers.logging.set_verbosity_error()
torch.set_num_threads(1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="fail if the file on disk differs")
    arguments = parser.parse_args()
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["name", "width", "height", "tokens", "tiles", "positions"])
    for name, count in MODELS.items():
        for width, height in SIZES:
            writer.writerow([name, width, height, *count(blank(width, height))])
    if arguments.check:
        return 0 if TABLE.exists() and TABLE.read_text() == out.getvalue() else 1
    TABLE.write_text(out.getvalue())
    return 0


def blank(width, height):
    return torch.zeros((3, height, width), dtype=torch.uint8)


def area(processor):
    """Qwen, GLM, MiniMax, Kimi: the grid of patches, of which merge_size squared are one token."""
    def count(image):
        frames, rows, columns = processor(images=image, return_tensors="pt")["image_grid_thw"][0].tolist()
        patches = frames * rows * columns
        return patches // processor.merge_size**2, 1, patches
    return count


def gemma3(image):
    """Two line breaks before and after are one token each, and so are the marks of begin and end."""
    processor = models.gemma3.Gemma3ImageProcessor(size={"height": 896, "width": 896}, do_pan_and_scan=False)
    pixels = processor(images=image, return_tensors="pt")["pixel_values"]
    tiles, patches = pixels.shape[0], (pixels.shape[-1] // 14) ** 2
    return tiles * (GEMMA3_TOKENS + 4), tiles, patches


def gemma4(image):
    processor = models.gemma4.Gemma4ImageProcessor()
    inputs = processor(images=image, return_tensors="pt")
    patches = int((inputs["image_position_ids"][0][:, 0] >= 0).sum())
    own = types.SimpleNamespace(boi_token=IMAGE, eoi_token=IMAGE, image_token=IMAGE)
    return len(models.gemma4.Gemma4Processor.replace_image_token(own, inputs, 0)), 1, patches


def llama4(image):
    processor = models.llama4.Llama4ImageProcessor(size={"height": 336, "width": 336}, max_patches=16)
    inputs = processor(images=image, return_tensors="pt")
    per_tile = (336 // 14) ** 2 // 4
    text = models.llama4.Llama4Processor._prompt_split_image(None, inputs["aspect_ratios"][0].tolist(), per_tile)
    return text.count("<"), inputs["pixel_values"].shape[0], (336 // 14) ** 2 + 1


def pixtral(longest, merge):
    processor = models.pixtral.PixtralImageProcessor(size={"longest_edge": longest}, patch_size={"height": 14 * merge, "width": 14 * merge})

    def count(image):
        inputs = processor(images=image, return_tensors="pt")
        height, width = (int(side) for side in inputs["image_sizes"][0])
        own = types.SimpleNamespace(
            patch_size=14, spatial_merge_size=merge, image_token=IMAGE, image_break_token=IMAGE, image_end_token=IMAGE,
        )
        text = models.pixtral.PixtralProcessor.replace_image_token(own, inputs, 0)
        return len(text), 1, (height // 14) * (width // 14)
    return count


def internvl(image):
    processor = models.got_ocr2.GotOcr2ImageProcessor(size={"height": 448, "width": 448}, crop_to_patches=True, min_patches=1, max_patches=12)
    tiles = processor(images=image, return_tensors="pt")["pixel_values"].shape[0]
    return 2 + 256 * tiles, tiles, (448 // 14) ** 2 + 1


def llava(image):
    size = {"height": 336, "width": 336}
    processor = models.clip.CLIPImageProcessor(size={"shortest_edge": 336}, crop_size=size)
    side = processor(images=image, return_tensors="pt")["pixel_values"].shape[-1] // 14
    return side**2, 1, side**2 + 1


def grid(side, per_tile, patches):
    """Idefics 3: the text between the tokens of tiles, with a line break as one token, and two as one."""
    processor = models.idefics3.Idefics3ImageProcessor(size={"longest_edge": 4 * side}, max_image_size={"longest_edge": side})

    def count(image):
        inputs = processor(images=[image], return_tensors="pt", return_row_col_info=True)
        own = types.SimpleNamespace(fake_image_token=IMAGE, global_image_tag=IMAGE, image_token=IMAGE, image_seq_len=per_tile)
        text = models.idefics3.Idefics3Processor.replace_image_token(own, inputs, 0)
        rows, columns = inputs["rows"][0][0], inputs["cols"][0][0]
        for row in range(rows):
            for column in range(columns):
                text = text.replace(f"<row_{row + 1}_col_{column + 1}>", IMAGE)
        return len(text.replace("\n\n", "\n")), rows * columns + 1, patches
    return count


def qwen(patch, least, most):
    return area(models.qwen2_vl.Qwen2VLImageProcessor(patch_size=patch, size={"shortest_edge": least, "longest_edge": most}))


def llava_next(image):
    pinpoints = [[336, 672], [672, 336], [672, 672], [1008, 336], [336, 1008]]
    size = {"shortest_edge": 336}
    processor = models.llava_next.LlavaNextImageProcessor(size=size, crop_size={"height": 336, "width": 336}, image_grid_pinpoints=pinpoints)
    inputs = processor(images=image, return_tensors="pt")
    own = types.SimpleNamespace(
        image_processor=processor, patch_size=14, num_additional_image_tokens=1, vision_feature_select_strategy="default", image_token=IMAGE,
    )
    own._get_number_of_features = types.MethodType(models.llava_next.LlavaNextProcessor._get_number_of_features, own)
    own._get_unpadded_features = types.MethodType(models.llava_next.LlavaNextProcessor._get_unpadded_features, own)
    text = models.llava_next.LlavaNextProcessor.replace_image_token(own, inputs, 0)
    return len(text), inputs["pixel_values"].shape[1], (336 // 14) ** 2 + 1


def phi4(image):
    inputs = models.phi4_multimodal.Phi4MultimodalImageProcessor()(images=image, return_tensors="pt")
    pixels = inputs["image_pixel_values"]
    return int(inputs["num_img_tokens"][0]), pixels.shape[1], (pixels.shape[-1] // 14) ** 2


def mean(parts, positions):
    """Parts may differ: their number, and the mean of their positions, rounded up."""
    return parts, -(-positions // parts)


def lfm2(image):
    """Each part is as many patches as its shape says; what pads them takes no time."""
    processor = models.lfm2_vl.Lfm2VlImageProcessor()
    inputs = processor(images=[image], return_tensors="pt", return_row_col_info=True)
    own = models.lfm2_vl.Lfm2VlProcessor.__new__(models.lfm2_vl.Lfm2VlProcessor)
    own.image_processor = processor
    own.image_token = own.image_start_token = own.image_end_token = own.image_thumbnail_token = IMAGE
    text = own.replace_image_token(inputs, 0, use_image_special_tokens=True)
    rows, columns = int(inputs["image_rows"][0]), int(inputs["image_cols"][0])
    for row in range(rows):
        for column in range(columns):
            text = text.replace(f"<|img_row_{row + 1}_col_{column + 1}|>", IMAGE)
    shapes = inputs["spatial_shapes"].tolist()
    return len(text), *mean(len(shapes), sum(height * width for height, width in shapes))


def step3p7(image):
    processor = models.step3p7.Step3p7ImageProcessor()
    inputs = processor(images=[image], return_tensors="pt")
    tokens = [(side // (processor.vision_patch_size * processor.downsampler_stride)) ** 2 for side in (processor.size["height"], processor.patch_size)]
    own = types.SimpleNamespace(image_feature_placeholder=IMAGE * tokens[0], patch_feature_placeholder=IMAGE * tokens[1])
    text = models.step3p7.Step3p7Processor.replace_image_token(own, inputs, 0)
    for word in ("patch_start", "patch_end", "patch_newline", "im_start", "im_end"):
        text = text.replace(f"<{word}>", IMAGE)
    views = [inputs["pixel_values"], *([inputs["pixel_values_local"]] if "pixel_values_local" in inputs else [])]
    positions = sum(view.shape[0] * (view.shape[-1] // 14) ** 2 for view in views)
    return len(text), *mean(sum(view.shape[0] for view in views), positions)


# Fixtures with a tower, and the processor with the sizes of the published model.
MODELS = {
    "qwen2-vl-2b": qwen(14, 56 * 56, 12_845_056),
    "qwen2.5-vl-7b": qwen(14, 56 * 56, 12_845_056),
    "qwen3-vl-4b": qwen(16, 65_536, 16_777_216),
    "qwen3.5-27b": qwen(16, 65_536, 16_777_216),
    "glm-4.5v": area(models.glm4v.Glm4vImageProcessor()),
    "minimax-m3": area(models.minimax_m3_vl.MiniMaxM3VLImageProcessor()),
    "kimi-k2.5": area(models.kimi_k25.Kimi_K25ImageProcessor()),
    "gemma-3-27b": gemma3,
    "gemma-4-31b": gemma4,
    "llama-4-scout": llama4,
    "pixtral-12b": pixtral(1024, 1),
    "mistral-small-3.2-24b": pixtral(1540, 2),
    "internvl3-8b-hf": internvl,
    "llava-1.5-7b": llava,
    "idefics3-defaults": grid(224, 12, 49),
    "llava-v1.6-mistral-7b": llava_next,
    "phi-4-multimodal": phi4,
    "lfm2-vl-1.6b": lfm2,
    "step-3.7-flash": step3p7,
    "paddleocr-vl-defaults": area(models.paddleocr_vl.PaddleOCRVLImageProcessor()),
    "glm-ocr": area(models.glm46v.Glm46VImageProcessor()),
    "exaone4-5-defaults": qwen(14, 56 * 56, 12_845_056),
    "qwen3-omni-30b-a3b": qwen(16, 65_536, 16_777_216),
    "vipllava-defaults": llava,
}

if __name__ == "__main__":
    sys.exit(main())
