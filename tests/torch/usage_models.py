"""The models whose operators usage.py counts: torchvision, timm and transformers, made with random weights; nothing is downloaded.

A model is (library, name, make), and make() gives (module, example inputs, example keyword arguments).
"""

import functools
import inspect

import torch

# torchvision's C++ operators belong to another build of PyTorch than the tests': what its models need of them is declared here.
_DECLARED = {"nms": "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
             "qnms": "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
             "roi_align": "(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width, int sampling_ratio, "
                          "bool aligned) -> Tensor"}
# Parameters: more of them takes time and shows no other operators.
LARGEST = 60e6

# Smaller than the published ones; keys that a configuration does not have, or has as lists, stay as they are.
TINY = {"hidden_size": 32, "d_model": 32, "n_embd": 32, "dim": 32, "emb_dim": 32, "hidden_dim": 32, "embedding_size": 32,
        "num_hidden_layers": 2, "n_layer": 2, "n_layers": 2, "num_layers": 2, "encoder_layers": 2, "decoder_layers": 2,
        "num_decoder_layers": 2, "num_attention_heads": 4, "n_head": 4, "n_heads": 4, "num_heads": 4, "encoder_attention_heads": 4,
        "decoder_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8, "intermediate_size": 64, "encoder_ffn_dim": 64,
        "decoder_ffn_dim": 64, "d_ff": 64, "d_kv": 8, "ffn_dim": 64, "n_inner": 64, "vocab_size": 128, "max_position_embeddings": 64,
        "n_positions": 64, "max_source_positions": 64, "max_target_positions": 64, "num_experts": 4, "num_local_experts": 4,
        "n_routed_experts": 4, "moe_intermediate_size": 32, "num_experts_per_tok": 2, "projection_dim": 16, "q_lora_rank": 16,
        "kv_lora_rank": 16, "qk_rope_head_dim": 8, "qk_nope_head_dim": 8, "v_head_dim": 8, "n_group": 1, "topk_group": 1,
        "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1, "use_cache": False, "num_labels": 5,
        "rotary_dim": 8, "state_size": 8, "time_step_rank": 4, "conv_dim": None, "num_queries": 10, "num_feature_levels": None}

# What is used most, and one of each kind of attention, position, normalization, mixture, convolution and loss of state.
TRANSFORMERS = """
albert align altclip apertus arcee aria_text audio-spectrogram-transformer bamba bart beit bert bert-generation big_bird biogpt bit
blenderbot blenderbot-small blip bloom camembert canine chinese_clip clap clip clip_text_model clip_vision_model clipseg codegen cohere
cohere2 conditional_detr convbert convnext convnextv2 ctrl cvt dab-detr data2vec-audio data2vec-text data2vec-vision dbrx deberta
deberta-v2 deepseek_v2 deepseek_v3 deformable_detr deit depth_anything detr diffllama dinov2 dinov2_with_registers dinov3_convnext
dinov3_vit distilbert donut-swin dpr dpt efficientnet electra ernie ernie4_5 esm exaone4 falcon falcon_mamba flaubert flava fnet focalnet
fsmt funnel gemma gemma2 gemma3_text gemma4_text git glm glm4 glpn gpt2 gpt_bigcode gpt_neo gpt_neox gpt_oss gptj granite granitemoe
groupvit helium hgnet_v2 hiera hubert ibert idefics2_vision ijepa imagegpt informer jamba jetmoe layoutlm layoutlmv3 led levit lfm2 lilt
llama longformer longt5 luke lxmert m2m_100 mamba mamba2 marian markuplm mask2former maskformer mbart megatron-bert mgp-str mimi ministral
mistral mixtral mobilebert mobilenet_v1 mobilenet_v2 mobilevit mobilevitv2 modernbert moonshine mpnet mpt mt5 musicgen_decoder mvp
nemotron nllb-moe nystromformer olmo olmo2 olmoe openai-gpt opt owlvit owlv2 patchtsmixer patchtst pegasus pegasus_x perceiver persimmon
phi phi3 phimoe pix2struct_vision_model plbart poolformer prophetnet pvt pvt_v2 qwen2 qwen2_moe qwen3 qwen3_moe qwen3_next recurrent_gemma
reformer regnet rembert resnet roberta roberta-prelayernorm roc_bert roformer rt_detr rwkv sam_vision_model segformer sew sew-d siglip
siglip2_vision_model siglip_text_model siglip_vision_model smollm3 speech_to_text splinter squeezebert stablelm starcoder2 superpoint
swiftformer swin swin2sr swinv2 switch_transformers t5 table-transformer tapas timesformer time_series_transformer trocr umt5 unispeech
unispeech-sat upernet videomae vilt visual_bert vit vit_mae vit_msn vitdet vitpose vits vivit wav2vec2 wav2vec2-bert wav2vec2-conformer
wavlm whisper xglm xlm xlm-roberta xlm-roberta-xl xlnet xmod yolos yoso zamba2 zoedepth
""".split()
_CLASSES = ["AutoModelForCausalLM", "AutoModelForSeq2SeqLM", "AutoModelForSpeechSeq2Seq", "AutoModelForObjectDetection",
            "AutoModelForUniversalSegmentation", "AutoModelForSemanticSegmentation", "AutoModelForDepthEstimation",
            "AutoModelForImageClassification", "AutoModelForVideoClassification", "AutoModelForCTC", "AutoModelForAudioClassification",
            "AutoModelForSequenceClassification", "AutoModel"]


@functools.cache
def torchvision_models():
    library = torch.library.Library("torchvision", "DEF")
    for name, schema in _DECLARED.items():
        library.define(name + schema)
    import torchvision

    library.impl("nms", _nms, "CPU")
    return torchvision.models, library


def _nms(boxes, scores, threshold):
    from torchvision.ops import box_iou

    order, kept = scores.argsort(descending=True, stable=True), []
    overlap = box_iou(boxes, boxes)
    for i in order.tolist():
        if all(overlap[i, j] <= threshold for j in kept):
            kept.append(i)
    return torch.tensor(kept, dtype=torch.int64)


def _picture(side, channels=3):
    return torch.randn(1, channels, side, side)


def _torchvision(name):
    models, _ = torchvision_models()
    words = {"weights": None}
    if name in ("googlenet", "inception_v3"):
        words["init_weights"] = False
    if hasattr(models.segmentation, name) or hasattr(models.detection, name):
        words["weights_backbone"] = None
    module = models.get_model(name, **words)
    if hasattr(models.detection, name):
        return module, ([_picture(320)[0]],), {}
    if hasattr(models.video, name):
        return module, (torch.randn(1, 3, 16, 224 if "mvit" in name else 112, 224 if "mvit" in name else 112),), {}
    if name.startswith("raft"):
        return module, (_picture(128), _picture(128)), {"num_flow_updates": 2}
    fixed = "vit" in name
    return module, (_picture(224 if fixed else 96),), {}


def _timm(name):
    torchvision_models()  # timm imports it
    import timm

    module = timm.create_model(name)
    channels, side, _ = module.default_cfg["input_size"]
    if not module.default_cfg.get("fixed_input_size") and side > 160:
        try:
            module = timm.create_model(name, img_size=128)
            side = 128
        except Exception:  # it has no such argument, or not this size
            side = 128 if "patch_embed" not in dict(module.named_children()) else side
    return module, (_picture(side, channels),), {}


def _tiny(cls, depth=0):
    """A configuration with small sizes, also in those it is made of."""
    known = inspect.signature(cls.__init__).parameters
    words = {}
    for key, value in TINY.items():
        if value is None or (key not in known and key not in getattr(cls, "attribute_map", {})):
            continue
        default = known[key].default if key in known else None
        if not isinstance(default, (list, tuple, dict)):
            words[key] = value
    for key, part in getattr(cls, "sub_configs", {}).items():
        if depth < 2 and key in known and hasattr(part, "model_type") and part.model_type:
            words[key] = _tiny(part, depth + 1).to_dict()
    return cls(**words)


def _inputs(module, config):
    known = inspect.signature(module.forward).parameters
    text, vision = getattr(config, "text_config", config), getattr(config, "vision_config", config)
    vocabulary = getattr(text, "vocab_size", None) or 128
    length = 12
    ids = torch.randint(3, min(vocabulary, 128), (1, length))
    inputs = {}
    for key in ("input_ids", "decoder_input_ids"):
        if key in known:
            inputs[key] = ids if key == "input_ids" else ids[:, :5]
    if "input_ids" in inputs and "attention_mask" in known:
        inputs["attention_mask"] = torch.ones(1, length, dtype=torch.int64)
    if "bbox" in known:
        inputs["bbox"] = torch.randint(0, 100, (1, length, 2)).repeat(1, 1, 2).sort(-1)[0]
    side = getattr(vision, "image_size", None) or 64
    high, wide = side if isinstance(side, (list, tuple)) else (side, side)
    channels = getattr(vision, "num_channels", None) or 3
    if "pixel_values" in known:
        frames = getattr(config, "num_frames", None)
        inputs["pixel_values"] = torch.randn(1, *([frames] if frames else []), channels, high, wide)
    if "input_values" in known:
        bins = getattr(config, "num_mel_bins", None)
        inputs["input_values"] = torch.randn(1, config.max_length, bins) if bins and hasattr(config, "max_length") else torch.randn(1, 4000)
    if "input_features" in known:
        bins = getattr(config, "num_mel_bins", None) or getattr(config, "input_feat_per_channel", None) or 80
        frames = 2 * getattr(config, "max_source_positions", 50)
        inputs["input_features"] = torch.randn(1, bins, frames) if "whisper" in config.model_type else torch.randn(1, 60, bins)
        if "wav2vec2-bert" in config.model_type:
            inputs["input_features"] = torch.randn(1, 60, config.feature_projection_input_dim)
    if "past_values" in known:
        inputs["past_values"] = torch.randn(1, getattr(config, "context_length", 32), getattr(config, "num_input_channels", 1))
    return inputs


def _transformers(kind):
    torchvision_models()
    import transformers
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    config, tried = _tiny(CONFIG_MAPPING[kind]), []
    for name in _CLASSES:
        auto = getattr(transformers, name)
        if type(config) not in auto._model_mapping:
            continue
        try:
            module = auto.from_config(config)
        except Exception as e:
            tried.append(f"{name}: {e}")
            continue
        return module, (), _inputs(module, config)
    raise RuntimeError("; ".join(tried)[:300] or "no class of it is known")


def names_of(library):
    if library == "torchvision":
        models, _ = torchvision_models()
        return sorted(n for part in (models, models.segmentation, models.detection, models.video, models.optical_flow)
                      for n in models.list_models(module=part))
    if library == "timm":
        import os

        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "usage_timm.txt")) as f:
            return f.read().split()
    return TRANSFORMERS


MAKERS = {"torchvision": _torchvision, "timm": _timm, "transformers": _transformers}


def make(library, name):
    torch.manual_seed(0)
    module, args, kwargs = MAKERS[library](name)
    if sum(p.numel() for p in module.parameters()) > LARGEST:
        raise OverflowError("larger than what is looked at")
    module.eval()
    with torch.no_grad():  # heads that begin with zeros would hide everything before them
        for parameter in module.parameters():
            if parameter.dim() > 1 and not parameter.any():
                parameter.normal_(std=0.05)
    return module, args, kwargs
